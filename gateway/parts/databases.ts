import { join } from 'node:path'
import type { Config } from '#settings/config.ts'
import type { DatabaseAdapter } from '#store/command-database.ts'
import { openPostgres } from '#store/drivers/postgres/database.ts'
import { openPostgresCommands } from '#store/postgres/commands.ts'
import { examinePostgres } from '#store/postgres/examine.ts'
import { openPostgresKeptRows } from '#store/postgres/kept-rows.ts'
import { createPostgresKeyStore } from '#store/postgres/keys.ts'
import { openPostgresStores } from '#store/postgres/stores.ts'
import { openSqliteCommands } from '#store/sqlite/commands.ts'
import { examineSqlite, openSqliteKeptRows } from '#store/sqlite/kept-rows.ts'
import { KEYS_FILE, openKeyStore } from '#store/sqlite/key-store.ts'
import { openSqliteStores } from '#store/sqlite/stores.ts'

/** @returns The database of the settings: the one place that knows which one it is. */
export function databaseOf({
  dataDir,
  databaseUrl,
}: Pick<Config, 'dataDir' | 'databaseUrl'>): DatabaseAdapter {
  return databaseUrl === undefined ? sqliteAdapter(dataDir) : postgresAdapter(databaseUrl)
}

/** The SQLite files in a data folder. */
function sqliteAdapter(dataDir: string): DatabaseAdapter {
  return {
    openStores: (deps) => openSqliteStores(dataDir, deps),
    async openKeys() {
      const store = openKeyStore(join(dataDir, KEYS_FILE))
      return { store, hadKeys: async () => store.hadKeys(), close: async () => store.close() }
    },
    openForCommand: (options) => openSqliteCommands(dataDir, options),
    openToRead: async () => openSqliteKeptRows(dataDir),
    examine: async (fingerprints) => examineSqlite(dataDir, fingerprints),
  }
}

/** @param url A PostgreSQL database. */
function postgresAdapter(url: string): DatabaseAdapter {
  return {
    openStores: (deps) => openPostgresStores(url, deps),
    async openKeys(log) {
      const database = await openPostgres(url, log)
      const store = createPostgresKeyStore(database)
      return { store, hadKeys: async () => (await store.version()) > 0, close: database.close }
    },
    openForCommand: (options) => openPostgresCommands(url, options),
    openToRead: (log) => openPostgresKeptRows(url, log),
    examine: (fingerprints) => examinePostgres(url, fingerprints),
  }
}
