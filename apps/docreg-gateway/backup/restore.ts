// Makes DATA_DIR from a backup, or checks the database that `pg_restore` has filled.
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '#settings/config.ts'
import { createScrubber, refusalsOf } from '#store/drivers/postgres/postgres.ts'
import { withIdentity } from '../identity.ts'
import { readPostgres } from '../tables/postgres.ts'
import { openSession } from '../tables/postgres-session.ts'
import { type Comparison, compareWithChain } from './compare.ts'
import { BackupError, CHAIN_FOLDER, copyFiles, readBackup } from './contents.ts'
import { linesOf, writeLists } from './report.ts'
import { createRestored } from './restored.ts'
import { createSqliteRestored, openRestored } from './restored-sqlite.ts'
import { syncAll } from './sync.ts'

/**
 * The folder gets its final name only after the copy has been checked and compared with the chain.
 *
 * @throws {BackupError} when the backup is damaged, or the chain lacks something that was anchored.
 */
export async function restoreFolder(
  config: Config,
  from: string,
  say: (line: string) => void,
): Promise<Comparison> {
  const { dataDir } = config
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0)
    throw new BackupError(`DATA_DIR ${dataDir} is not empty: name another folder, or move it away`)
  const { createdAt, block, files } = await readBackup(from)
  say(`backup    ${from}, of ${createdAt}: all files are unchanged`)
  const part = `${dataDir}.part`
  if (from === part)
    throw new BackupError(`restore uses the name ${part} itself: rename the backup`)
  rmSync(part, { recursive: true, force: true })
  mkdirSync(part, { recursive: true })
  try {
    copyFiles(from, part, Object.keys(files))
    const compared = await compare({ ...config, dataDir: part }, block, say)
    for (const line of linesOf(compared, config.erasureList)) say(line)
    writeLists(part, compared)
    syncAll(part)
    if (existsSync(dataDir)) rmdirSync(dataDir)
    renameSync(part, dataDir)
    syncAll(dirname(dataDir), { recursive: false })
    say(`restored  ${dataDir}: docreg-gateway start`)
    return compared
  } catch (error) {
    rmSync(part, { recursive: true, force: true })
    throw error
  }
}

async function compare(
  config: Config,
  block: number | null,
  say: (line: string) => void,
): Promise<Comparison> {
  const isLocal = config.rpcUrls.length === 0
  if (isLocal && !existsSync(join(config.dataDir, CHAIN_FOLDER)))
    throw new BackupError(
      'the backup contains no local chain: set RPC_URL to the chain of its gateway',
    )
  return withIdentity(config, say, async (identity) => {
    const database = openRestored(config.dataDir)
    try {
      return await compareWithChain(
        createSqliteRestored(config.dataDir, database),
        config,
        identity,
        block,
      )
    } finally {
      await database.close()
    }
  })
}

/**
 * Checks a database that `pg_restore` has filled, and repairs it from the chain and other sources,
 * in one transaction.
 *
 * @param options.block The number of the newest block when the backup was made; `null` when
 * unknown.
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
    const { query, database, commit, close } = await openSession(databaseUrl, 'write')
    try {
      const restored = createRestored(database, {
        side: readPostgres(query),
        refusals: refusalsOf(),
        scrubber: createScrubber(database),
      })
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
