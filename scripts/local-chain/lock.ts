import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { LocalChainError } from './errors.ts'

const SQLITE_BUSY = 5

/** Holds a data directory for one process. The kernel gives it back when the process ends, however it ends. */
export type Lock = { release: () => void }

/**
 * Takes the data directory. Node has no flock; SQLite's lock on a file of its own is one on every platform.
 * @throws `data_dir_in_use` while another process (or another chain of this one) holds it
 */
export const lock = (dir: string): Lock => {
  const path = join(dir, 'lock.db')
  const database = new DatabaseSync(path)
  try {
    // Never open the file otherwise: closing it would give up the lock of this process.
    chmodSync(path, 0o600)
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (cause) {
    database.close()
    if ((cause as { errcode?: number }).errcode !== SQLITE_BUSY) throw cause
    throw new LocalChainError(
      'data_dir_in_use',
      `The local chain in ${dir} is already running in another process. Stop that one first, or start with another DATA_DIR (and other ports).`,
      { cause },
    )
  }
  return { release: () => database.close() }
}
