import { renameSync, writeFileSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Anvil, type AnvilProcess, originOf } from './anvil.ts'

// The pid file, by which a start finds the Anvil that an earlier one left behind.

const recordPath = (dir: string): string => join(dir, 'anvil.json')

/** Not synced: a power cut ends Anvil too. */
export const writeRecord = (dir: string, anvil: AnvilProcess): void => {
  writeFileSync(`${recordPath(dir)}.tmp`, JSON.stringify(anvil), {
    mode: 0o600,
  })
  renameSync(`${recordPath(dir)}.tmp`, recordPath(dir))
}

/** Says that this Anvil has got all that the journal holds, so that a later start may take it over. */
export const markReady = (dir: string, { process }: Anvil): void =>
  writeRecord(dir, { ...process, ready: true })

export const readRecord = async (
  dir: string,
): Promise<AnvilProcess | undefined> => {
  try {
    return JSON.parse(await readFile(recordPath(dir), 'utf8')) as AnvilProcess
  } catch {
    // No record, or one that a power cut left empty: either way no Anvil of ours is known to run.
    return undefined
  }
}

export const removeRecord = (dir: string): Promise<void> =>
  rm(recordPath(dir), { force: true })

/** The process that has this nonce on its command line. Where there is no /proc that is not known. */
export const pidByNonce = async (
  nonce: string,
): Promise<number | undefined> => {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) =>
    /^\d+$/.test(name),
  )
  for (const pid of pids) {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(
      () => '',
    )
    if (commandLine.includes(originOf(nonce))) return Number(pid)
  }
  return undefined
}
