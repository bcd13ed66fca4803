// Copies the data of a gateway between SQLite and PostgreSQL.
import { openRegistry } from '#chain/registry.ts'
import type { Identity } from '#parts/chain.ts'
import { type Config, ConfigError, readConfig } from '#settings/config.ts'
import { checkBatchHistory } from '../backup/batches.ts'
import { checkHistory } from '../backup/compare.ts'
import { withIdentity } from '../identity.ts'
import { anchoredIn, type Side } from '../tables/rows.ts'
import { moveToPostgres } from './to-postgres.ts'
import { moveToSqlite } from './to-sqlite.ts'

const DIRECTIONS = { 'to-postgres': moveToPostgres, 'to-sqlite': moveToSqlite } as const

type Say = (line: string) => void

/** @returns The numbers of anchored documents and batches. */
export async function move(direction: keyof typeof DIRECTIONS, say: Say) {
  const config = readConfig(process.env)
  const { databaseUrl } = config
  if (databaseUrl === undefined)
    throw new ConfigError(['DATABASE_URL is required, in addition to DATA_DIR'])
  let anchored = { documents: 0, batches: 0 }
  await withIdentity(config, say, (identity) =>
    DIRECTIONS[direction]({
      config,
      databaseUrl,
      identity,
      say,
      async check(side) {
        anchored = await checkAgainstChain(config, identity, side)
        const { documents, batches } = anchored
        say(
          `history   ${documents} documents and ${batches} batches were anchored, and the chain has them`,
        )
      },
    }),
  )
  return anchored
}

/** @throws {BackupError} when the chain lacks something that was anchored. */
async function checkAgainstChain(config: Config, identity: Identity, side: Side) {
  const { registry } = openRegistry(identity.rpc, { ...identity, finality: config.finality })
  const documents = await checkHistory(anchoredIn(side, 'record'), registry)
  const batches = await checkBatchHistory(anchoredIn(side, 'batch'), registry)
  return { documents, batches }
}
