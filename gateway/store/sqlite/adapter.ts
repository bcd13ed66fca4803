import { join } from 'node:path'
import type { DatabaseAdapter } from '../command-database.ts'
import { openSqliteCommands } from './commands.ts'
import { examineSqlite } from './examine.ts'
import { openKeptRows } from './kept-rows.ts'
import { KEYS_FILE, openKeyStore } from './key-store.ts'
import { openSqliteStores } from './stores.ts'

/** The SQLite files in a data folder. */
export function sqliteAdapter(dataDir: string): DatabaseAdapter {
  return {
    openStores: (deps) => openSqliteStores(dataDir, deps),
    async openKeys() {
      const store = openKeyStore(join(dataDir, KEYS_FILE))
      return { store, hadKeys: async () => store.hadKeys(), close: async () => store.close() }
    },
    openForCommand: (options) => openSqliteCommands(dataDir, options),
    openToRead: async () => openKeptRows(dataDir),
    examine: async (fingerprints) => examineSqlite(dataDir, fingerprints),
  }
}
