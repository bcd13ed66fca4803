import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { ApiKey, KeyStore } from '#keys/ports.ts'
import { IssueError } from '#promise/errors.ts'
import { DataDirError, movedError } from '../drivers/sqlite/data-dir-error.ts'
import { keyOfRow } from '../rows.ts'

/** The file with the API keys, in the data folder. */
export const KEYS_FILE = 'keys.db'

/** The file's schema version. A file of another version is refused. */
const VERSION = 1

/** How long a write waits for that of another process; milliseconds. */
const BUSY_TIMEOUT_MS = 1_000

const SCHEMA = `
  -- AUTOINCREMENT remembers that there was a key, even after all have been revoked.
  CREATE TABLE IF NOT EXISTS api_key (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    digest TEXT NOT NULL,
    tenant TEXT NOT NULL,
    scopes TEXT NOT NULL,
    label TEXT,
    categories TEXT,
    rate_limit INTEGER,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    last_used_at TEXT,
    replaced_by TEXT
  ) STRICT;
  CREATE TABLE IF NOT EXISTS change (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL
  ) STRICT;
  INSERT INTO change VALUES (1, 0) ON CONFLICT DO NOTHING;
`

/** API keys in a SQLite file, which several processes may use at the same time. */
export type SqliteKeyStore = KeyStore & {
  /** @returns Whether it has ever had a key. */
  hadKeys(): boolean
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
export function openKeyStore(path: string): SqliteKeyStore {
  const sqlite = openFile(path)
  const statements = prepare(sqlite)

  /** One transaction, on the disk when this returns. */
  function write<T>(work: () => T): T {
    return guarded(sqlite, () => {
      sqlite.exec('BEGIN IMMEDIATE')
      const result = work()
      statements.changed.run()
      sqlite.exec('COMMIT')
      return result
    })
  }

  return {
    version: async () => guarded(sqlite, () => Number(statements.version.get()?.version)),
    list: async () => guarded(sqlite, () => statements.all.all().map(keyOfRow)),
    put: async (key) => write(() => void statements.put.run(rowOf(key))),
    update: async (id, change) =>
      write(() => {
        const row = statements.one.get(id)
        if (row === undefined) return false
        for (const key of change(keyOfRow(row))) statements.put.run(rowOf(key))
        return true
      }),
    remove: async (id) => write(() => statements.remove.run(id).changes > 0),
    async markUsed(uses) {
      // Without a flush, for which the event loop would wait: this may be lost.
      sqlite.exec('PRAGMA synchronous = NORMAL')
      try {
        guarded(sqlite, () => {
          sqlite.exec('BEGIN IMMEDIATE')
          for (const [id, time] of uses) statements.used.run(time, id)
          sqlite.exec('COMMIT')
        })
      } finally {
        sqlite.exec('PRAGMA synchronous = FULL')
      }
    },
    hadKeys: () => statements.sequence.get() !== undefined,
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
        `has API keys of another version of this service (${path} has the format ${version}, this one's is ${VERSION})`,
        ': start with the version that wrote it, or remove that file and make new keys',
      )
    sqlite.exec(`${SCHEMA} PRAGMA user_version = ${VERSION}; COMMIT`)
    return sqlite
  } catch (cause) {
    sqlite.close()
    if (cause instanceof DataDirError) throw cause
    throw new Error(`${path} cannot be read (${messageOf(cause)}): put back a copy, or remove it`, {
      cause,
    })
  }
}

function prepare(sqlite: DatabaseSync) {
  return {
    version: sqlite.prepare('SELECT version FROM change'),
    changed: sqlite.prepare('UPDATE change SET version = version + 1'),
    all: sqlite.prepare('SELECT * FROM api_key ORDER BY position'),
    one: sqlite.prepare('SELECT * FROM api_key WHERE id = ?'),
    remove: sqlite.prepare('DELETE FROM api_key WHERE id = ?'),
    used: sqlite.prepare('UPDATE api_key SET last_used_at = ? WHERE id = ?'),
    sequence: sqlite.prepare("SELECT 1 FROM sqlite_sequence WHERE name = 'api_key'"),
    put: sqlite.prepare(`
      INSERT INTO api_key (id, digest, tenant, scopes, label, categories, rate_limit, created_at,
        expires_at, last_used_at, replaced_by)
      VALUES ($id, $digest, $tenant, $scopes, $label, $categories, $rateLimit, $createdAt,
        $expiresAt, $lastUsedAt, $replacedBy)
      ON CONFLICT (id) DO UPDATE SET digest = excluded.digest, tenant = excluded.tenant,
        scopes = excluded.scopes, label = excluded.label, categories = excluded.categories,
        rate_limit = excluded.rate_limit, created_at = excluded.created_at,
        expires_at = excluded.expires_at, last_used_at = excluded.last_used_at,
        replaced_by = excluded.replaced_by`),
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

function rowOf(key: ApiKey) {
  return {
    id: key.id,
    digest: key.digest,
    tenant: key.tenant,
    scopes: key.scopes.join(','),
    label: key.label ?? null,
    categories: key.categories?.join(',') ?? null,
    rateLimit: key.rateLimit ?? null,
    createdAt: key.createdAt,
    expiresAt: key.expiresAt ?? null,
    lastUsedAt: key.lastUsedAt ?? null,
    replacedBy: key.replacedBy ?? null,
  }
}
