import { createHash } from 'node:crypto'
import { createRegistry } from '#chain/registry.ts'
import { type Hex, toHex } from '#document/hex.ts'
import type { Identity } from '#parts/chain.ts'
import type { Action } from '#promise/action.ts'
import type { RegistryReader } from '#promise/ports.ts'
import type { RecordKey } from '#promise/record.ts'
import type { Config } from '#settings/config.ts'
import { openErasureList } from '#store/erasure-list.ts'
import { tableOf } from '#store/tables.ts'
import { createTombstones } from '#store/tombstones.ts'
import type { RegistryRecord } from '#verifier/ports.ts'
import { collectIssued } from '#verifier/readers/issued-logs.ts'
import { isRevoked } from '#verifier/status.ts'
import { bindingOf } from '../binding.ts'
import { openSources } from '../sources.ts'
import { anchoredIn, type Row, type Side } from '../tables/rows.ts'
import { checkBatchHistory, fetchLaterBatches, type LaterBatches } from './batches.ts'
import { fetchPayloads } from './blocks.ts'
import { BackupError } from './contents.ts'
import type { Restored } from './restored.ts'

/** A restored database compared with the chain, as numbers of documents. */
export type Comparison = {
  /** Erasures in the list that the backup did not have. */
  erased: number
  /** Payloads in the database. Each matches the hash under which it is stored. */
  payloads: number
  /** Documents that are in a block. The chain has a record of each. */
  anchored: number
  /** Documents that are promised and not on the chain yet. */
  waiting: number
  /** Promised documents that have reached the chain since the backup. */
  arrived: number
  /** Waiting changes that newer changes on the chain overrule. They are dropped. */
  outdated: number
  /** Documents on the chain that are unknown here. */
  later: number
  /** The number of these payloads that other sources had and that are now stored here. */
  fetched: number
  /** The documentHashes of those whose payload no source has. */
  lost: Hex[]
  /** Batches that are in a block; the chain has a record of each. */
  anchoredBatches: number
  batches: LaterBatches
}

/**
 * Checks a restored database, and repairs it from the chain and other sources.
 *
 * @param block The number of the newest block when the backup was made; `null` when unknown.
 * @throws {BackupError} when the database is damaged or belongs to another registry, issuer or
 * secret, or when the chain lacks documents that were anchored.
 */
export async function compareWithChain(
  restored: Restored,
  config: Config,
  identity: Identity,
  block: number | null,
): Promise<Comparison> {
  const { rpc, registry: id, issuerId, signer } = identity
  const { side } = restored
  await restored.assertUsable(bindingOf(identity))
  const { account, registry } = await createRegistry(rpc, { registry: id, issuerId, signer })
  await account.assertReady()
  await restored.loseStatusLists()
  const erased = await restored.mergeErasures(openErasureList(config.erasureList))
  const payloads = await countPayloads(side)
  const anchored = await checkHistory(anchoredIn(side, 'record'), registry)
  const anchoredBatches = await checkBatchHistory(anchoredIn(side, 'batch'), registry)
  const promised = await checkPromises(restored, registry, block)
  const after = await fetchLater(config, identity, restored)
  return { erased, payloads, anchored, anchoredBatches, ...promised, ...after }
}

/** @throws {BackupError} for a payload that does not match its hash. */
async function countPayloads(side: Side): Promise<number> {
  let count = 0
  for await (const rows of side.rows(tableOf('payload'))) {
    rows.forEach(assertPayload)
    count += rows.length
  }
  return count
}

/**
 * @param row A row of the table of payloads.
 * @throws {BackupError} when the payload does not match its hash.
 */
export function assertPayload([hash, bytes]: Row): void {
  const actual = createHash('sha256')
    .update(bytes as Uint8Array)
    .digest()
  if (!actual.equals(hash as Uint8Array))
    throw new BackupError(`the payload of ${toHex(hash as Uint8Array)} is damaged`)
}

/**
 * @param documentHashes The documents that are in a block, some at a time.
 * @returns The number of documentHashes.
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
      `the chain has no record of ${missing} of ${count} documents that were anchored: the node is behind, or RPC_URL is another chain with the same id`,
    )
  return count
}

async function checkPromises(
  restored: Restored,
  registry: RegistryReader,
  block: number | null,
): Promise<Pick<Comparison, 'waiting' | 'arrived' | 'outdated'>> {
  const actions = await restored.waiting()
  const records = await registry.records(
    actions.map(({ documentHash, root }) => ({ documentHash, ...(root && { root }) })),
  )
  const arrived = actions.filter(({ kind }, i) => kind === 'issue' && records[i]?.anchoredBlock)
  const outdated = actions.filter(({ kind }, i) => isOutdated(kind, records[i], block))
  await restored.drop(outdated.flatMap(({ change }) => change ?? []))
  return {
    waiting: actions.length - arrived.length - outdated.length,
    arrived: arrived.length,
    outdated: outdated.length,
  }
}

/**
 * @returns Whether a change made after the backup overrules a waiting one. A suspension or release
 * does not overrule a revocation, which was promised permanently.
 * @param block See {@link compareWithChain}.
 */
export function isOutdated(
  kind: Action['kind'],
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
  restored: Restored,
): Promise<Pick<Comparison, 'later' | 'fetched' | 'lost' | 'batches'>> {
  const { documentHashes, manifests } = await collectIssued(rpc, registry, issuerId, {
    from: (await restored.newestBlock()) + 1,
  })
  const later: Hex[] = []
  for (const hash of documentHashes) if (!(await restored.isKnown(hash))) later.push(hash)
  const tombstones = createTombstones(restored.isErased)
  const store = tombstones.guardStore(restored.store)
  const sources = (await openSources(config)).map(tombstones.guardSource)
  const lost = await fetchPayloads(later, store, sources)
  const batches = await fetchLaterBatches(restored, manifests, { store, sources })
  return { later: later.length, fetched: later.length - lost.length, lost, batches }
}
