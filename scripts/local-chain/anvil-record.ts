import { renameSync, writeFileSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Anvil, type AnvilProcess, originOf } from './anvil.ts'
import { LocalChainError } from './errors.ts'
import { folderIdentity, identityOf, isAlive, type ProcessIdentity } from './identity.ts'

// The file by which a start finds the Anvil that an earlier one left behind in the same folder.

/** A folder can be copied while its Anvil runs, and its record with it: so it says which folder and whose Anvil it is. */
export type AnvilRecord = AnvilProcess & {
  folder: string
  /** Who writes to the Anvil. */
  owner: ProcessIdentity
}

const recordPath = (dir: string): string => join(dir, 'anvil.json')

/** Records an Anvil as this process's own. Not synced: a power cut ends Anvil too. */
export const writeRecord = (dir: string, anvil: AnvilProcess): void => {
  const record: AnvilRecord = {
    ...anvil,
    folder: folderIdentity(dir),
    owner: identityOf(process.pid),
  }
  writeFileSync(`${recordPath(dir)}.tmp`, JSON.stringify(record), {
    mode: 0o600,
  })
  renameSync(`${recordPath(dir)}.tmp`, recordPath(dir))
}

/** Says that this Anvil has all that the journal holds, so that a later start may take it over. */
export const markReady = (dir: string, { process }: Anvil): void =>
  writeRecord(dir, { ...process, ready: true })

export const readRecord = async (dir: string): Promise<AnvilRecord | undefined> => {
  try {
    return JSON.parse(await readFile(recordPath(dir), 'utf8')) as AnvilRecord
  } catch {
    // No record, or one that a power cut left empty: either way no Anvil of ours is known to run.
    return undefined
  }
}

/**
 * @returns Whether the recorded Anvil is for this process to take over or to end: it was started in this very folder, and its owner
 * has ended or is this process.
 * @throws `data_dir_in_use` if another process owns it: its lock on the folder must have been lost with the file
 */
export const isAbandoned = (dir: string, { folder, owner }: AnvilRecord): boolean => {
  if (folder !== folderIdentity(dir)) return false
  if (owner.pid === process.pid || !isAlive(owner)) return true
  throw new LocalChainError(
    'data_dir_in_use',
    `Process ${owner.pid} runs the local chain in ${dir}. Stop it first, or start with another DATA_DIR (and other ports). If that process is another program, remove ${recordPath(dir)}.`,
  )
}

export const removeRecord = (dir: string): Promise<void> => rm(recordPath(dir), { force: true })

/** The process that has this nonce on its command line. Where there is no /proc that is not known. */
export const pidByNonce = async (nonce: string): Promise<number | undefined> => {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  for (const pid of pids) {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (commandLine.split('\0').includes(originOf(nonce))) return Number(pid)
  }
  return undefined
}
