import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SCHEMA_VERSION, schemaOf } from '../../tables.ts'

/** Most indexes are of hashes, so every insert is on another page: the cache has to hold many. */
const CACHE_KIB = 32_768

const SCHEMA = `
  ${schemaOf('sqlite')}
  -- When the service made its last backup; the one row has the id 1.
  CREATE TABLE backup (id INTEGER PRIMARY KEY, made_at INTEGER NOT NULL) STRICT;
  -- A row that is written to find out whether the disk accepts writes.
  CREATE TABLE probe (id INTEGER PRIMARY KEY, written_at INTEGER NOT NULL) STRICT;
  PRAGMA user_version = ${SCHEMA_VERSION};`

/** An open file with this version's schema, and the lock that keeps other processes out. */
type LockedFile = { sqlite: DatabaseSync; lock: DatabaseSync }

/** Makes the data folder if it is missing. @throws {DataDirError} `read_only` */
export function prepareFolder(dataDir: string): void {
  explained(() => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    accessSync(dataDir, constants.W_OK)
  })
}

/** @throws {DataDirError} `read_only` */
function explained(work: () => void): void {
  try {
    work()
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (!['EROFS', 'EACCES', 'EPERM'].includes(code)) throw error
    const user = process.getuid ? ` (it runs as user ${process.getuid()})` : ''
    throw new DataDirError(
      'read_only',
      `cannot be written: ${message}`,
      `\n  Mount it writable, and give it to the user of the service${user}, or start with another DATA_DIR.`,
    )
  }
}

/** See `openSqlite`. */
export function openLocked(path: string): LockedFile {
  // Only this user may read it; SQLite gives its side files the same mode.
  explained(() => closeSync(openSync(path, 'a', 0o600)))
  const lock = lockFile(path)
  try {
    return { sqlite: openVersion(path), lock }
  } catch (error) {
    lock.close()
    throw error
  }
}

/** @throws {DataDirError} `other_version`, `moved` */
function openVersion(path: string): DatabaseSync {
  const sqlite = new DatabaseSync(path)
  try {
    prepare(sqlite, path, isEmpty(sqlite))
    return sqlite
  } catch (error) {
    sqlite.close()
    throw error
  }
}

function prepare(sqlite: DatabaseSync, path: string, isNew: boolean): void {
  sqlite.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA foreign_keys = ON;
    PRAGMA wal_autocheckpoint = 0;
    PRAGMA cache_size = -${CACHE_KIB};
  `)
  // In one transaction: the next start would refuse tables without a version.
  if (isNew) sqlite.exec(`BEGIN; ${SCHEMA} COMMIT`)
  // This write creates the log, which then stays until the file is closed.
  sqlite.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
  syncFolder(dirname(path))
  // From here on, the gateway flushes the log itself.
  sqlite.exec('PRAGMA synchronous = NORMAL')
}

/**
 * Locks a file beside the database: the database itself has two connections, one of them for
 * checkpoints. The lock ends with the process that holds it.
 *
 * @throws {Error} when another process has it.
 */
export function lockFile(path: string): DatabaseSync {
  const lock = new DatabaseSync(`${path}-lock`)
  try {
    // By path: opening and closing the file once more would release the lock of this process.
    chmodSync(`${path}-lock`, 0o600)
    lock.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    throw error
  }
}

/** @returns Whether it has no tables yet. @throws {DataDirError} `other_version`, `moved` */
function isEmpty(sqlite: DatabaseSync): boolean {
  const schema = sqlite.prepare('SELECT count(*) AS tables FROM sqlite_schema')
  if (schema.get()?.tables === 0) return true
  const row = sqlite.prepare('PRAGMA user_version').get()
  const version = Number(row?.user_version)
  if (version === SCHEMA_VERSION) return false
  if (version < 0) throw movedError()
  const writer = version > SCHEMA_VERSION ? 'a newer version' : 'an older version'
  throw new DataDirError(
    'other_version',
    `was written by ${writer} of this service (its format is ${version}, this one's is ${SCHEMA_VERSION}), and is not converted`,
    ': start with another DATA_DIR, or with the version that wrote it',
  )
}

/**
 * Makes the names of new files survive a power cut. Windows cannot flush a folder, and does not
 * need it.
 */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  fsyncSync(folder)
  closeSync(folder)
}

/** The data folder cannot be used. The message says what to do. */
export class DataDirError extends Error {
  override name = 'DataDirError'
  readonly code:
    | 'bound_to_another'
    | 'in_use'
    | 'moved'
    | 'other_version'
    | 'read_only'
    | 'unfinished'
  /** The message without `DATA_DIR` and the remedy, so that it also fits a backup of the folder. */
  readonly problem: string

  constructor(code: DataDirError['code'], problem: string, remedy: string) {
    super(`DATA_DIR ${problem}${remedy}`)
    this.code = code
    this.problem = problem
  }
}

/**
 * Files of a folder whose contents were moved to PostgreSQL have their schema version, negative: it
 * would be wrong to go on with both.
 */
export function movedError(): DataDirError {
  return new DataDirError(
    'moved',
    'was moved to PostgreSQL',
    ': set DATABASE_URL, or start with another DATA_DIR',
  )
}
