import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type Hex, toHex } from '../../document/hex.ts'
import { openErasureList } from '../../gateway/adapters/erasure-list.ts'
import { createRegistry } from '../../gateway/adapters/ethereum/registry.ts'
import { DataDirError } from '../../gateway/adapters/sqlite/data-dir-error.ts'
import { type Database, openDatabase } from '../../gateway/adapters/sqlite/database.ts'
import { createSqliteErasures } from '../../gateway/adapters/sqlite/erasures.ts'
import { createSqliteStore } from '../../gateway/adapters/sqlite/store.ts'
import { createSqliteIsErased } from '../../gateway/adapters/sqlite/tombstones.ts'
import { createTombstones } from '../../gateway/adapters/tombstones.ts'
import type { Config } from '../../gateway/config.ts'
import type { Intent } from '../../gateway/issue/intent.ts'
import type { RegistryReader } from '../../gateway/issue/ports.ts'
import type { RecordKey } from '../../gateway/issue/record.ts'
import { createLog } from '../../gateway/log.ts'
import type { Identity } from '../../gateway/open-chain.ts'
import { openKubo } from '../../gateway/open-stores.ts'
import { fingerprintsOf } from '../../gateway/secrets.ts'
import type { RegistryRecord } from '../../verifier/ports.ts'
import { createIpfsGatewaySource } from '../../verifier/readers/ipfs-gateway.ts'
import { collectIssued } from '../../verifier/readers/issued-logs.ts'
import { isRevoked } from '../../verifier/status.ts'
import { BATCH_HISTORY, HISTORY } from '../tables/list.ts'
import { hashesIn } from '../tables/rows.ts'
import { readSqlite } from '../tables/sqlite.ts'
import { checkBatchHistory, fetchLaterBatches, type LaterBatches } from './batches.ts'
import { fetchPayloads } from './blocks.ts'
import { BackupError, DATABASE_FILE } from './contents.ts'

/** The contents of a restored data folder, and what only the chain has. Numbers of documents. */
export type Comparison = {
  /** Erasures of the list that the backup did not have. */
  erased: number
  /** Payloads in the folder; each has the hash that it is stored under. */
  payloads: number
  /** In the history; the chain has a record of each. */
  anchored: number
  /** Promised, and not on the chain yet. */
  waiting: number
  /** Promised, and on the chain since the backup. */
  arrived: number
  /** Waiting changes that newer changes on the chain overrule; dropped from the outbox. */
  outdated: number
  /** On the chain after the newest document of the history, and unknown here. */
  later: number
  /** Of these, payloads that other sources had; now stored here. */
  fetched: number
  /** DocumentHashes of those whose payload no source has. */
  lost: Hex[]
  /** Batches in the history; the chain has a record of each. */
  anchoredBatches: number
  batches: LaterBatches
}

/**
 * Checks a restored data folder, and repairs it from the chain and other sources.
 *
 * @param block Number of the newest block when the backup was made; `null` when unknown.
 * @throws {BackupError} when the folder is damaged, when its version, registry, issuer or secret is
 * another, or when the chain lacks documents that were anchored.
 */
export async function compareWithChain(
  config: Config,
  identity: Identity,
  block: number | null,
): Promise<Comparison> {
  const { rpc, registry: id, issuerId, signer } = identity
  const database = openRestored(config.dataDir)
  try {
    const fingerprints = fingerprintsOf(identity.issuerSecrets)
    namingBackup(() => database.bindTo({ registry: id, issuerId, fingerprints }))
    assertWhole(database.sqlite)
    const { account, registry } = await createRegistry(rpc, {
      registry: id,
      issuerId,
      signer,
    })
    await account.assertReady()
    const list = openErasureList(config.erasureList)
    const erased = await createSqliteErasures(database, list).mergeList()
    const payloads = countPayloads(database.sqlite)
    const side = readSqlite({ main: database.sqlite, keys: database.sqlite })
    const anchored = await checkHistory(hashesIn(side, HISTORY, 'document_hash'), registry)
    const anchoredBatches = await checkBatchHistory(hashesIn(side, BATCH_HISTORY, 'root'), registry)
    const promised = await checkPromises(database, registry, block)
    const after = await fetchLater(config, identity, database)
    return { erased, payloads, anchored, anchoredBatches, ...promised, ...after }
  } finally {
    await database.close()
  }
}

/** @throws {BackupError} when another version of the service wrote the backup. */
export function openRestored(dataDir: string): Database {
  return namingBackup(() => openDatabase(join(dataDir, DATABASE_FILE)))
}

/** Name the backup in errors: `DATA_DIR` does not exist yet. */
function namingBackup<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (!(cause instanceof DataDirError)) throw cause
    const remedy =
      cause.code === 'other_version' ? ': restore it with the version that wrote it' : ''
    throw new BackupError(`the backup ${cause.problem}${remedy}`, { cause })
  }
}

/** @throws {BackupError} when SQLite finds the file damaged. */
export function assertWhole(sqlite: DatabaseSync): void {
  const [row] = sqlite.prepare('PRAGMA integrity_check(1)').all()
  if (row?.integrity_check !== 'ok')
    throw new BackupError(`${DATABASE_FILE} is damaged: ${row?.integrity_check}`)
}

/** @throws {BackupError} for a payload that has another hash. */
function countPayloads(sqlite: DatabaseSync): number {
  let count = 0
  for (const row of sqlite.prepare('SELECT hash, bytes FROM block').iterate()) {
    const hash = toHex(row.hash as Uint8Array)
    const { bytes } = row as { bytes: Uint8Array }
    if (toHex(createHash('sha256').update(bytes).digest()) !== hash)
      throw new BackupError(`the payload of ${hash} is damaged`)
    count++
  }
  return count
}

/**
 * @param documentHashes Of the history, some at a time.
 * @returns How many there are.
 * @throws {BackupError} when the chain has no record of a document that was anchored.
 */
export async function checkHistory(
  documentHashes: AsyncIterable<readonly Hex[]>,
  registry: { records(keys: readonly RecordKey[]): Promise<{ anchoredBlock: number }[]> },
): Promise<number> {
  let count = 0
  let missing = 0
  for await (const some of documentHashes) {
    const records = await registry.records(some.map((documentHash) => ({ documentHash })))
    missing += records.filter(({ anchoredBlock }) => !anchoredBlock).length
    count += some.length
  }
  if (missing > 0)
    throw new BackupError(
      `the chain has no record of ${missing} of ${count} documents that were anchored: the node is behind, or RPC_URL is another chain of this name`,
    )
  return count
}

type Waiting = { id: number; kind: Intent['kind']; documentHash: Hex; root: Hex | null }

async function checkPromises(
  { sqlite, write }: Database,
  registry: RegistryReader,
  block: number | null,
): Promise<Pick<Comparison, 'waiting' | 'arrived' | 'outdated'>> {
  const intents = sqlite
    .prepare(`
      SELECT id, kind, document_hash AS documentHash, root FROM intent
      WHERE block_number IS NULL ORDER BY id`)
    .all() as Waiting[]
  const records = await registry.records(
    intents.map(({ documentHash, root }) => ({ documentHash, ...(root && { root }) })),
  )
  const arrived = intents.filter(({ kind }, i) => kind === 'issue' && records[i]?.anchoredBlock)
  const outdated = intents.filter(({ kind }, i) => isOutdated(kind, records[i], block))
  const drop = sqlite.prepare('DELETE FROM intent WHERE id = ?')
  await write(() => {
    for (const { id } of outdated) drop.run(id)
  })
  return {
    waiting: intents.length - arrived.length - outdated.length,
    arrived: arrived.length,
    outdated: outdated.length,
  }
}

/**
 * Whether a change made after the backup overrules a waiting one. A suspension or release does not
 * overrule a revocation, which was promised permanently.
 *
 * @param block See {@link compareWithChain}.
 */
export function isOutdated(
  kind: Intent['kind'],
  record: Pick<RegistryRecord, 'revokedBlock' | 'reason'> | undefined,
  block: number | null,
): boolean {
  if (!record || kind === 'issue') return false
  if (kind === 'revoke' && !isRevoked(record)) return false
  return record.revokedBlock > (block ?? Infinity)
}

/** Reads the issuer's documents and batches that are newer than the history. */
async function fetchLater(
  config: Config,
  { rpc, registry, issuerId }: Identity,
  database: Database,
): Promise<Pick<Comparison, 'later' | 'fetched' | 'lost' | 'batches'>> {
  const { sqlite } = database
  const { newest } = sqlite
    .prepare('SELECT coalesce(max(block_number), -1) AS newest FROM history')
    .get() as { newest: number }
  const { documentHashes, manifests } = await collectIssued(rpc, registry, issuerId, {
    from: newest + 1,
  })
  const known = sqlite.prepare("SELECT 1 FROM intent WHERE document_hash = ? AND kind = 'issue'")
  const later = documentHashes.filter((hash) => !known.get(hash))
  const kubo = await openKubo(config, createLog(config.logLevel))
  const tombstones = createTombstones(createSqliteIsErased(database))
  const store = tombstones.guardStore(kubo ?? createSqliteStore(database))
  const sources = config.ipfsGateways
    .map((url) => createIpfsGatewaySource(url, config.ipfsTimeout))
    .map(tombstones.guardSource)
  const lost = await fetchPayloads(later, store, sources)
  const batches = await fetchLaterBatches(database, manifests, { store, sources })
  return { later: later.length, fetched: later.length - lost.length, lost, batches }
}
