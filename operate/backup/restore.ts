/**
 * `npm run restore -- <backup>`: makes `DATA_DIR` from a backup, with the settings of `npm start`.
 * The folder gets its name only once the copy has been checked and compared with the chain. With
 * `DATABASE_URL`, it checks that database, which `pg_restore` has filled, likewise.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { UsageError } from '#cli/errors.ts'
import { type Config, readConfig } from '#settings/config.ts'
import { runCommand } from '../command.ts'
import { withIdentity } from '../identity.ts'
import { type Comparison, compareWithChain } from './compare.ts'
import { BackupError, CHAIN_FOLDER, copyFiles, readBackup } from './contents.ts'
import { linesOf, writeLists } from './report.ts'
import { checkRestoredPostgres } from './restore-postgres.ts'
import { createSqliteRestored, openRestored } from './restored-sqlite.ts'
import { syncAll } from './sync.ts'

const USAGE = 'npm run restore -- <backup>'
const POSTGRES_USAGE =
  'npm run restore [-- --block <number>], after pg_restore: it checks the database of DATABASE_URL'
const say = (line: string) => console.log(line)

async function main(): Promise<void> {
  process.umask(0o077)
  const config = readConfig(process.env)
  const { databaseUrl } = config
  if (databaseUrl === undefined) return restoreFolder(config, readFolder())
  await checkRestoredPostgres(config, databaseUrl, { block: readBlock(), say })
}

async function restoreFolder(config: Config, from: string): Promise<void> {
  const { dataDir } = config
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0)
    throw new BackupError(`DATA_DIR ${dataDir} is not empty: name another, or move it away`)
  const { createdAt, block, files } = await readBackup(from)
  say(`backup    ${from}, of ${createdAt}: all files are unchanged`)
  const part = `${dataDir}.part`
  if (from === part)
    throw new BackupError(`the restore needs the name ${part} for itself: rename the backup`)
  rmSync(part, { recursive: true, force: true })
  mkdirSync(part, { recursive: true })
  try {
    copyFiles(from, part, Object.keys(files))
    const compared = await compare({ ...config, dataDir: part }, block)
    for (const line of linesOf(compared, config.erasureList)) say(line)
    writeLists(part, compared)
    syncAll(part)
    if (existsSync(dataDir)) rmdirSync(dataDir)
    renameSync(part, dataDir)
    syncAll(dirname(dataDir), { recursive: false })
    say(`restored  ${dataDir}: npm start`)
  } catch (error) {
    rmSync(part, { recursive: true, force: true })
    throw error
  }
}

function readFolder(): string {
  const { positionals } = parseArgs({ allowPositionals: true })
  const [from, ...more] = positionals
  if (!from || more.length > 0) throw new UsageError(USAGE)
  return resolve(from)
}

/** @returns The newest block when `pg_dump` was started; `null` when unknown. */
function readBlock(): number | null {
  const { values } = parseArgs({ options: { block: { type: 'string' } } })
  if (values.block === undefined) return null
  if (!/^\d{1,15}$/.test(values.block)) throw new UsageError(POSTGRES_USAGE)
  return Number(values.block)
}

async function compare(config: Config, block: number | null): Promise<Comparison> {
  const isLocal = config.rpcUrls.length === 0
  if (isLocal && !existsSync(join(config.dataDir, CHAIN_FOLDER)))
    throw new BackupError('the backup has no local chain: set RPC_URL to the chain of its service')
  return withIdentity(config, say, async (identity) => {
    const database = openRestored(config.dataDir)
    try {
      return await compareWithChain(createSqliteRestored(database), config, identity, block)
    } finally {
      await database.close()
    }
  })
}

await runCommand('restore', main)
