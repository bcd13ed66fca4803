/**
 * `npm run restore -- <backup>`: makes `DATA_DIR` from a backup, with the settings of `npm start`.
 * The folder gets its name only once the copy has been checked and compared with the chain.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Config, readConfig } from '../../gateway/config.ts'
import { tellCause, withIdentity } from '../identity.ts'
import { assertSqlite } from '../only-sqlite.ts'
import { type Comparison, compareWithChain } from './compare.ts'
import { BackupError, CHAIN_FOLDER, copyFiles, readBackup } from './contents.ts'
import { syncAll } from './sync.ts'

const USAGE = 'npm run restore -- <backup>'
/** Lists documents that were issued after the backup and whose payload is lost. */
const LOST_FILE = 'missing-payloads.txt'
/** Lists the roots of batches that were issued after the backup and whose manifest is lost. */
const UNREAD_FILE = 'missing-batches.txt'
const say = (line: string) => console.log(line)

async function main(): Promise<void> {
  process.umask(0o077)
  const from = readArguments()
  assertSqlite(process.env, 'npm run restore', 'restore PostgreSQL with pg_restore')
  const config = readConfig(process.env)
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
    const { lost, batches } = compared
    writeList(join(part, LOST_FILE), [...lost, ...batches.lost])
    writeList(join(part, UNREAD_FILE), batches.unread)
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

function writeList(path: string, lines: readonly string[]): void {
  if (lines.length > 0) writeFileSync(path, `${lines.join('\n')}\n`)
}

function readArguments(): string {
  try {
    const { positionals } = parseArgs({ allowPositionals: true })
    const [from, ...more] = positionals
    if (!from || more.length > 0) throw new Error(USAGE)
    return resolve(from)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(64)
  }
}

async function compare(config: Config, block: number | null): Promise<Comparison> {
  const isLocal = config.rpcUrls.length === 0
  if (isLocal && !existsSync(join(config.dataDir, CHAIN_FOLDER)))
    throw new BackupError('the backup has no local chain: set RPC_URL to the chain of its service')
  return withIdentity(config, say, (identity) => compareWithChain(config, identity, block))
}

function linesOf(compared: Comparison, erasureList: string): string[] {
  return [
    existsSync(erasureList)
      ? `erased    ${compared.erased} erasures of ${erasureList} are newer than the backup, and hold again`
      : `erased    no list at ${erasureList}: what was erased after the backup is back (ERASURE_LIST)`,
    ...linesOfDocuments(compared),
    ...linesOfBatches(compared),
    ...linesOfLost(compared),
  ]
}

function linesOfDocuments({
  payloads,
  anchored,
  waiting,
  arrived,
  outdated,
  later,
  fetched,
  lost,
}: Omit<Comparison, 'erased' | 'anchoredBatches' | 'batches'>): string[] {
  return [
    `payloads  ${payloads} are whole`,
    `history   ${anchored} documents were anchored, and the chain has them all`,
    `outbox    ${waiting + arrived} promised: ${arrived} have reached the chain, ${waiting} will be sent at the start`,
    ...(outdated > 0 ? [`          ${outdated} changes dropped: newer ones are on the chain`] : []),
    ...(later > 0
      ? [
          `later     ${later} documents of the issuer are on the chain and not in the backup: ${fetched} payloads fetched, ${lost.length} lost`,
        ]
      : []),
  ]
}

function linesOfBatches({ anchoredBatches, batches }: Comparison): string[] {
  const { documents, lost, unread } = batches
  return [
    ...(anchoredBatches > 0
      ? [`batches   ${anchoredBatches} were anchored, and the chain has them all`]
      : []),
    ...(batches.batches > 0
      ? [
          `          ${batches.batches} are on the chain and not in the backup, ${unread.length} of them without a manifest: of ${documents} documents, ${documents - lost.length} payloads fetched, ${lost.length} lost`,
        ]
      : []),
  ]
}

function linesOfLost({ lost, batches }: Comparison): string[] {
  const files = [
    ...(lost.length + batches.lost.length > 0 ? [LOST_FILE] : []),
    ...(batches.unread.length > 0 ? [UNREAD_FILE] : []),
  ]
  if (files.length === 0) return []
  return [
    `          listed in ${files.join(' and ')}. Repeat their requests with the same Idempotency-Key (a batch without one: the same body), or set IPFS_GATEWAYS to a source that has them and restore again`,
  ]
}

main().catch((error) => {
  console.error(tellCause('restore', error))
  process.exit(1)
})
