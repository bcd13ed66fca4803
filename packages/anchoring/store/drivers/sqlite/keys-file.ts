import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { KeyStore } from '#keys/ports.ts'
import { IssueError } from '#promise/errors.ts'
import type { Database, KeysDatabase } from '../../database.ts'
import { createKeyStore } from '../../keys.ts'
import { single, type Work } from '../../sql.ts'
import { schemaOfKeys } from '../../tables.ts'
import { DataDirError, movedError } from './open-file.ts'
import { createRun } from './statements.ts'

/** The file with the API keys and people, in the data folder. */
export const KEYS_FILE = 'keys.db'

/** The file's schema version. A file of another version is refused. */
const VERSION = 3

/** How long a write waits for that of another process; milliseconds. */
const BUSY_TIMEOUT_MS = 1_000

const SCHEMA = `${schemaOfKeys()}
  INSERT INTO key_change VALUES (0);
  PRAGMA user_version = ${VERSION};`

/** API keys and people in a SQLite file, which several processes may use at the same time. */
export type KeysFile = KeyStore & {
  database: KeysDatabase
  /** @returns Whether it has ever had a key. */
  hadKeys(): Promise<boolean>
  close(): void
}

/**
 * A file of its own: the gateway's database is locked for one process, and these keys are also
 * changed by commands.
 *
 * @param path Created with mode 0600 if it does not exist.
 * @throws {DataDirError} `other_version`, `moved`
 * @throws {Error} when it cannot be read; the message names it.
 */
export function openKeysFile(path: string): KeysFile {
  const sqlite = openFile(path)
  const run = createRun(sqlite)

  /** One transaction, on the disk when this returns. */
  const write: Database['write'] = async (work) =>
    guarded(sqlite, () => {
      sqlite.exec('BEGIN IMMEDIATE')
      const result = run.work(work)
      sqlite.exec('COMMIT')
      return result
    })
  const change: Database['change'] = (...changed) => write(single(...changed))
  const database: KeysDatabase = {
    read: async (...asked: Parameters<Database['read']>) =>
      guarded(sqlite, () => run.rows(...asked)),
    // A work reads without a pause, so only other processes can write between two statements.
    snapshot: async <T>(work: () => Work<T>) => guarded(sqlite, () => run.work(work)),
    brief: <T>(read: () => Promise<T>) => read(),
    write,
    change,
    async changeLoosely(...changed) {
      // Without a flush, for which the event loop would wait.
      sqlite.exec('PRAGMA synchronous = NORMAL')
      try {
        return await change(...changed)
      } finally {
        sqlite.exec('PRAGMA synchronous = FULL')
      }
    },
  }
  const keys = createKeyStore(database)
  return {
    ...keys,
    database,
    hadKeys: async () => (await keys.version()) > 0,
    close: () => sqlite.close(),
  }
}

function openFile(path: string): DatabaseSync {
  closeSync(openSync(path, 'a', 0o600))
  const sqlite = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
  try {
    sqlite.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; BEGIN IMMEDIATE')
    const version = Number(sqlite.prepare('PRAGMA user_version').get()?.user_version)
    if (version < 0) throw movedError()
    if (version !== 0 && version !== VERSION)
      throw new DataDirError(
        'other_version',
        `contains API keys of another version of this service (the format of ${path} is ${version}, but this version needs ${VERSION})`,
        ': start with the version that wrote it, or remove that file and make new keys',
      )
    sqlite.exec(`${version === 0 ? SCHEMA : ''} COMMIT`)
    return sqlite
  } catch (cause) {
    sqlite.close()
    if (cause instanceof DataDirError) throw cause
    throw new Error(`${path} cannot be read (${messageOf(cause)}): put back a copy, or remove it`, {
      cause,
    })
  }
}

/** An error of SQLite is an outage of the store; any other is passed on. Nothing has changed. */
function guarded<T>(sqlite: DatabaseSync, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (sqlite.isTransaction) sqlite.exec('ROLLBACK')
    if (!(cause instanceof Error && 'errcode' in cause)) throw cause
    throw new IssueError('store_unavailable', `API keys: ${messageOf(cause)}`, cause)
  }
}

const messageOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))
