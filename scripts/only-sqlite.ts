import { ConfigError } from '../gateway/config.ts'

/**
 * For commands that work on the SQLite files in the data folder.
 *
 * @param instead What to do with PostgreSQL.
 * @throws {ConfigError} when the service keeps everything in PostgreSQL.
 */
export function assertSqlite(env: NodeJS.ProcessEnv, command: string, instead?: string): void {
  if (!env.DATABASE_URL) return
  const hint = instead === undefined ? '' : `: ${instead}`
  throw new ConfigError([
    `DATABASE_URL is set, and ${command} works on the SQLite files in DATA_DIR only${hint}`,
  ])
}
