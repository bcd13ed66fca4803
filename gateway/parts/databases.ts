import type { Config } from '#settings/config.ts'
import type { DatabaseAdapter } from '#store/commands.ts'
import { sqliteAdapter } from '#store/drivers/sqlite/sqlite.ts'

/** @returns The database of the settings. This is the one place that knows which one it is. */
export async function databaseOf({
  dataDir,
  databaseUrl,
}: Pick<Config, 'dataDir' | 'databaseUrl'>): Promise<DatabaseAdapter> {
  if (databaseUrl === undefined) return sqliteAdapter(dataDir)
  // Loaded only when needed, because most gateways have SQLite.
  const { postgresAdapter } = await import('#store/drivers/postgres/postgres.ts')
  return postgresAdapter(databaseUrl)
}
