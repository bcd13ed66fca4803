import type { DatabaseAdapter } from './adapters/command-database.ts'
import { postgresAdapter } from './adapters/postgres/adapter.ts'
import { sqliteAdapter } from './adapters/sqlite/adapter.ts'
import type { Config } from './config.ts'

/** @returns The database of the settings: the one place that knows which one it is. */
export function databaseOf({
  dataDir,
  databaseUrl,
}: Pick<Config, 'dataDir' | 'databaseUrl'>): DatabaseAdapter {
  return databaseUrl === undefined ? sqliteAdapter(dataDir) : postgresAdapter(databaseUrl)
}
