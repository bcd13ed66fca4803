import { chmod, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

// A generation is a state of the chain, and the journal of what came after it. It exists if its journal does.
// Generation 0 has no state: it is the genesis.

export const statePath = (dir: string, generation: number): string =>
  join(dir, `state-${generation}.json`)

export const journalPath = (dir: string, generation: number): string =>
  join(dir, `journal-${generation}.jsonl`)

/** The generations that have a journal, and those that have a state; ascending. */
export const generationsIn = async (
  dir: string,
): Promise<{ journals: number[]; states: number[] }> => {
  const names = await readdir(dir)
  const numbers = (pattern: RegExp) =>
    names
      .flatMap((name) => pattern.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b)
  return {
    journals: numbers(/^journal-(\d+)\.jsonl$/),
    states: numbers(/^state-(\d+)\.json$/),
  }
}

/** Makes the directory, for this user alone. */
export const makeDir = async (dir: string): Promise<void> => {
  await mkdir(dir, { recursive: true })
  await chmod(dir, 0o700)
}

/** Writes a file so that after a crash there is the whole of it or nothing. */
export const putInPlace = async (path: string, content: Uint8Array | string): Promise<void> => {
  const temporary = `${path}.tmp`
  try {
    const file = await open(temporary, 'w', 0o600)
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    // On a full disk, half a file would take the room that others need.
    await rm(temporary, { force: true })
    throw error
  }
  // Windows cannot open a directory, and its rename needs no such help.
  if (process.platform === 'win32') return
  const parent = await open(dirname(path), 'r')
  try {
    await parent.sync()
  } finally {
    await parent.close()
  }
}

/** Removes the generations before the given one, and what an interrupted write left. */
export const removeBefore = async (dir: string, generation: number): Promise<void> => {
  const { journals, states } = await generationsIn(dir)
  const old = (numbers: number[]) => numbers.filter((number) => number < generation)
  const leftOver = (await readdir(dir))
    .filter((name) => name.endsWith('.tmp'))
    .map((name) => join(dir, name))
  const oldPaths = [
    ...old(journals).map((number) => journalPath(dir, number)),
    ...old(states).map((number) => statePath(dir, number)),
  ]
  for (const path of [...oldPaths, ...leftOver]) await rm(path, { force: true })
}
