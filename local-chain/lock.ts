import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { LocalChainError } from './errors.ts'

const SQLITE_BUSY = 5

/**
 * Locks a data directory for this process; the kernel releases the lock when the process ends,
 * however it ends. Node has no flock, so this uses SQLite's lock on a separate file, which works on
 * every platform.
 * @throws {LocalChainError} `data_dir_in_use` while another process (or another chain of this one)
 * holds it
 */
export function lock(dir: string): { release: () => void } {
  const path = join(dir, 'lock.db')
  const database = new DatabaseSync(path)
  try {
    // Never open this file elsewhere: closing it would release this process's lock.
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
