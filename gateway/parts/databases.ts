import type { Config } from '#settings/config.ts'
import type { DatabaseAdapter } from '#store/commands.ts'
import { postgresAdapter } from '#store/drivers/postgres/postgres.ts'
import { sqliteAdapter } from '#store/drivers/sqlite/sqlite.ts'

/** @returns The database of the settings. This is the one place that knows which one it is. */
export function databaseOf({
  dataDir,
  databaseUrl,
}: Pick<Config, 'dataDir' | 'databaseUrl'>): DatabaseAdapter {
  return databaseUrl === undefined ? sqliteAdapter(dataDir) : postgresAdapter(databaseUrl)
}
