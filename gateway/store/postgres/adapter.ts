import type { DatabaseAdapter } from '../command-database.ts'
import { openPostgresCommands } from './commands.ts'
import { openPostgres } from './database.ts'
import { examinePostgres } from './examine.ts'
import { openKeptRows } from './kept-rows.ts'
import { createPostgresKeyStore } from './keys.ts'
import { openPostgresStores } from './stores.ts'

/** @param url A PostgreSQL database. */
export function postgresAdapter(url: string): DatabaseAdapter {
  return {
    openStores: (deps) => openPostgresStores(url, deps),
    async openKeys(log) {
      const database = await openPostgres(url, log)
      const store = createPostgresKeyStore(database)
      return { store, hadKeys: async () => (await store.version()) > 0, close: database.close }
    },
    openForCommand: (options) => openPostgresCommands(url, options),
    openToRead: (log) => openKeptRows(url, log),
    examine: (fingerprints) => examinePostgres(url, fingerprints),
  }
}
