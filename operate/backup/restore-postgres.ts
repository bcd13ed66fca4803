import { mkdirSync } from 'node:fs'
import type { Config } from '#settings/config.ts'
import { withIdentity } from '../identity.ts'
import { openSession } from '../tables/postgres-session.ts'
import { type Comparison, compareWithChain } from './compare.ts'
import { linesOf, writeLists } from './report.ts'
import { createPostgresRestored } from './restored-postgres.ts'

/**
 * Checks a database that `pg_restore` has filled, and repairs it from the chain and other sources,
 * in one transaction.
 *
 * @param options.block Number of the newest block when the backup was made; `null` when unknown.
 * @throws {ConfigError} when a gateway uses it.
 * @throws {DatabaseUrlError} when it belongs to another registry, issuer or secret.
 * @throws {BackupError} when it is damaged, or the chain lacks documents that were anchored.
 */
export async function checkRestoredPostgres(
  config: Config,
  databaseUrl: string,
  { block, say }: { block: number | null; say: (line: string) => void },
): Promise<Comparison> {
  const compared = await withIdentity(config, say, async (identity) => {
    const { query, commit, close } = await openSession(databaseUrl, 'write')
    try {
      const restored = createPostgresRestored(query)
      const compared = await compareWithChain(restored, config, identity, block)
      await commit()
      mkdirSync(config.dataDir, { recursive: true })
      for (const line of linesOf(compared, config.erasureList)) say(line)
      writeLists(config.dataDir, compared)
      return compared
    } finally {
      await close()
    }
  })
  say('restored  the database of DATABASE_URL: start the gateways')
  return compared
}
