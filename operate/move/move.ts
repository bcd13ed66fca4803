/**
 * `npm run move -- to-postgres` copies what a service keeps in `DATA_DIR` to the empty database of
 * `DATABASE_URL`; `npm run move -- to-sqlite` copies it back. Both need the settings of
 * `npm start`. They compare the copy with the original, and check it against the chain. No gateway starts with
 * the original again.
 */
import { parseArgs } from 'node:util'
import { openRegistry } from '#chain/registry.ts'
import { UsageError } from '#cli/errors.ts'
import type { Identity } from '#parts/chain.ts'
import { type Config, ConfigError, readConfig } from '#settings/config.ts'
import { checkBatchHistory } from '../backup/batches.ts'
import { checkHistory } from '../backup/compare.ts'
import { runCommand } from '../command.ts'
import { withIdentity } from '../identity.ts'
import { BATCH_HISTORY, HISTORY } from '../tables/list.ts'
import { hashesIn, type Side } from '../tables/rows.ts'
import { moveToPostgres } from './to-postgres.ts'
import { moveToSqlite } from './to-sqlite.ts'

const USAGE = 'npm run move -- to-postgres, or npm run move -- to-sqlite'
const DIRECTIONS = { 'to-postgres': moveToPostgres, 'to-sqlite': moveToSqlite } as const
const say = (line: string) => console.log(line)

async function main(): Promise<void> {
  process.umask(0o077)
  const direction = readArguments()
  const config = readConfig(process.env)
  const { databaseUrl } = config
  if (databaseUrl === undefined)
    throw new ConfigError(['DATABASE_URL is required: the PostgreSQL database, beside DATA_DIR'])
  await withIdentity(config, say, (identity) =>
    DIRECTIONS[direction]({
      ...{ config, databaseUrl, identity, say },
      check: (side) => checkAgainstChain(config, identity, side),
    }),
  )
}

/** @throws {BackupError} when the chain lacks what was anchored. */
async function checkAgainstChain(config: Config, identity: Identity, side: Side): Promise<void> {
  const { registry } = openRegistry(identity.rpc, { ...identity, finality: config.finality })
  const documents = await checkHistory(hashesIn(side, HISTORY, 'document_hash'), registry)
  const batches = await checkBatchHistory(hashesIn(side, BATCH_HISTORY, 'root'), registry)
  say(
    `history   ${documents} documents and ${batches} batches were anchored, and the chain has them`,
  )
}

function readArguments(): keyof typeof DIRECTIONS {
  const { positionals } = parseArgs({ allowPositionals: true })
  const [direction = '', ...more] = positionals
  if (!Object.hasOwn(DIRECTIONS, direction) || more.length > 0) throw new UsageError(USAGE)
  return direction as keyof typeof DIRECTIONS
}

await runCommand('move', main)
