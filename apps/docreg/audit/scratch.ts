import type { DatabaseSync } from 'node:sqlite'
import { UsageError } from '../errors.ts'

/** How much of the database is in memory; a sort takes as much again. */
const CACHE_KIB = 8 * 1024

/**
 * Opens a temporary database, so that memory does not grow with a list. It is in a file without a
 * name, in `TMPDIR` or otherwise `/var/tmp`, which disappears with the process. It is in one
 * transaction from beginning to end, because outside of one each change is written to the file.
 *
 * @throws {UsageError} under a Node without SQLite, in which the other commands work.
 */
export function openScratch(): DatabaseSync {
  const sqlite = process.getBuiltinModule?.('node:sqlite')
  if (sqlite === undefined)
    throw new UsageError(`this command requires Node 22.13 or newer; this is ${process.version}`)
  const scratch = new sqlite.DatabaseSync('')
  scratch.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE;
    PRAGMA cache_size = -${CACHE_KIB}; BEGIN`)
  return scratch
}

/** @returns Whether the temporary database failed, for example because the disk is full. */
export function isScratchError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR'
}
