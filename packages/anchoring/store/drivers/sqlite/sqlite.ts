import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Hex } from '#document/hex.ts'
import {
  type Health,
  type Refusals,
  readBinding,
  refusedHealth,
  secretHealth,
} from '../../binding.ts'
import {
  type CommandDatabase,
  type CommandOptions,
  createCommandDatabase,
  type DatabaseAdapter,
} from '../../commands.ts'
import { createSoleSessions, type Database, type Group } from '../../database.ts'
import { createKeptRows, type KeptRows } from '../../kept-rows.ts'
import { mirrorHealth } from '../../mirror.ts'
import { createIsErased } from '../../payloads.ts'
import { type DatabaseDeps, type DatabaseStores, openStores } from '../../stores.ts'
import { SCHEMA_VERSION } from '../../tables.ts'
import { openSqlite, type SqliteDatabase } from './driver.ts'
import { KEYS_FILE, openKeysFile } from './keys-file.ts'
import { DataDirError } from './open-file.ts'
import { createScrubber } from './scrub.ts'
import { createRun } from './statements.ts'
import { AFTER_LOSS, hasLostWrites, LOST_WRITES, removeMark } from './write-mark.ts'

/** The gateway's database in the data folder. */
export const DATABASE_FILE = 'gateway.db'

/** The SQLite files in a data folder. */
export function sqliteAdapter(dataDir: string): DatabaseAdapter {
  return {
    openStores: (deps) => openSqliteStores(dataDir, deps),
    async openKeys() {
      const store = openKeysFile(join(dataDir, KEYS_FILE))
      const { database, hadKeys } = store
      return { store, database, hadKeys, close: async () => store.close() }
    },
    openForCommand: (options) => openCommands(dataDir, options),
    openToRead: () => openKeptRows(dataDir),
    examine: async (fingerprints) => examine(dataDir, fingerprints),
  }
}

/**
 * @throws {DataDirError} when it belongs to another registry, issuer or secret, or to another
 * version.
 */
export async function openSqliteStores(
  dataDir: string,
  deps: DatabaseDeps,
): Promise<DatabaseStores> {
  const { log, end, acceptLoss } = deps
  const database = openSqlite(join(dataDir, DATABASE_FILE), (error) => {
    log.error('flush_failed', { error: error.message })
    end(error)
  })
  if (acceptLoss) database.mark.accept()
  const keys = openKeysFile(join(dataDir, KEYS_FILE))
  return openStores(
    database,
    {
      ...(database.mark.isBehind && { loss: `${LOST_WRITES}: ${AFTER_LOSS}` }),
      keys,
      besideKeys: keys.database,
      sessions: createSoleSessions(database),
      refusals: refusalsOf(dataDir),
      scrubber: createScrubber(database),
      openErased: async () => createIsErased(database),
      isSole: true,
      assertReady: database.assertReady,
      copyTo: database.copyTo,
      async close() {
        keys.close()
        await database.close()
      },
    },
    deps,
  )
}

/** @returns How a data folder is refused. */
export const refusalsOf = (dataDir: string): Refusals => ({
  boundToAnother: (problems) =>
    new DataDirError(
      'bound_to_another',
      `belongs to another gateway:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
      '\n  Or start with another DATA_DIR.',
    ),
  unfinished: (command) =>
    new DataDirError(
      'unfinished',
      `${dataDir} has a database that docreg-gateway ${command} has not finished`,
      ': run that again',
    ),
  notEmpty: (command) =>
    new DataDirError(
      'bound_to_another',
      `${dataDir} has a database already`,
      `: name an empty DATA_DIR to ${command}`,
    ),
  busy: () => inUse(dataDir),
})

const inUse = (dataDir: string) =>
  new DataDirError(
    'in_use',
    `is in use: a gateway runs with ${dataDir}`,
    ': stop it first, or name another DATA_DIR',
  )

async function openCommands(dataDir: string, options: CommandOptions): Promise<CommandDatabase> {
  const database = openStopped(dataDir, options)
  return createCommandDatabase(database, {
    sessions: createSoleSessions(database),
    refusals: refusalsOf(dataDir),
    scrubber: createScrubber(database),
    close: database.close,
  })
}

/**
 * @param options `create`: makes a folder that is missing.
 * @returns The database in a data folder, locked: no gateway starts with it until it is closed.
 * @throws {DataDirError} if a gateway runs with the folder, or another version wrote it.
 */
export function openStopped(
  dataDir: string,
  { create = false }: { create?: boolean } = {},
): SqliteDatabase {
  if (create) mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  try {
    return openSqlite(join(dataDir, DATABASE_FILE))
  } catch (error) {
    if (!/locked/.test(String(error))) throw error
    throw inUse(dataDir)
  }
}

/** @returns The fingerprints of the issuer secrets that a file was used with. */
export function fingerprintsIn(sqlite: DatabaseSync): readonly Hex[] {
  return createRun(sqlite).work(readBinding)?.fingerprints ?? []
}

/** Reads a file that another process may write. */
function openReader(path: string): { database: Database; sqlite: DatabaseSync; version: number } {
  const sqlite = new DatabaseSync(path, { readOnly: true })
  const version = Number(sqlite.prepare('PRAGMA user_version').get()?.user_version)
  const run = createRun(sqlite)
  const refuse = () => Promise.reject(new Error('the database is open read-only'))
  const snapshot: Database['snapshot'] = async (work) => run.work(work)
  return {
    sqlite,
    version,
    database: {
      read: async (...asked) => run.rows(...asked),
      snapshot,
      durableSnapshot: snapshot,
      change: refuse,
      write: refuse,
      together:
        <T, R>({ work }: Group<T, R>) =>
        async (item: T) =>
          run.work(() => work([item]))[0] as R,
      brief: (read) => read(),
      listen: () => () => {},
    },
  }
}

/** @throws {DataDirError} `other_version` for a folder without a database of this version. */
async function openKeptRows(dataDir: string): Promise<KeptRows> {
  const path = join(dataDir, DATABASE_FILE)
  const noDatabase = () =>
    new DataDirError('other_version', `${dataDir} has no database of this version`, '')
  if (!existsSync(path)) throw noDatabase()
  const { database, sqlite, version } = openReader(path)
  const binding = version === SCHEMA_VERSION ? await database.snapshot(readBinding) : undefined
  if (!binding) {
    sqlite.close()
    throw noDatabase()
  }
  return {
    ...binding,
    ...createKeptRows(database),
    damage: async () =>
      sqlite
        .prepare('PRAGMA quick_check')
        .all()
        .map((row) => String(Object.values(row)[0]))
        .filter((line) => line !== 'ok'),
    ...(hasLostWrites(path, sqlite) && { acceptLoss: () => removeMark(path) }),
    close: async () => sqlite.close(),
  }
}

async function examine(
  dataDir: string,
  fingerprints: readonly Hex[] | undefined,
): Promise<Health[]> {
  const path = join(dataDir, DATABASE_FILE)
  if (!existsSync(path)) return [{ outcome: 'ok', message: 'no database yet' }]
  let sqlite: DatabaseSync | undefined
  try {
    const reader = openReader(path)
    sqlite = reader.sqlite
    const { version, database } = reader
    if (version < 0)
      return [
        { outcome: 'fail', message: 'it was moved to PostgreSQL', advice: 'set DATABASE_URL' },
      ]
    if (version !== SCHEMA_VERSION)
      return [
        {
          outcome: 'fail',
          message: `its format is ${version}, but this version needs ${SCHEMA_VERSION}`,
          advice: 'start the version that wrote it, or name another DATA_DIR',
        },
      ]
    const binding = await database.snapshot(readBinding)
    if (hasLostWrites(path, sqlite))
      return [{ outcome: 'fail', message: LOST_WRITES, advice: AFTER_LOSS }]
    const secrets = secretHealth(`format ${version}`, binding?.fingerprints ?? [], fingerprints)
    const refused = await database.snapshot(refusedHealth)
    return [secrets, ...refused, ...(await database.snapshot(mirrorHealth))]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [
      {
        outcome: 'fail',
        message: `it cannot be read: ${reason}`,
        advice: 'restore a backup, or run recover',
      },
    ]
  } finally {
    sqlite?.close()
  }
}
