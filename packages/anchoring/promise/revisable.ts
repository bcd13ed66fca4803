import { clock } from '#base/clock.ts'
import { decodeBatchBlock } from '#document/batch/block.ts'
import { FormatError } from '#document/errors.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import type { ChainReader, DocumentKey, RegistryStatus } from '#verifier/ports.ts'
import { NO_ACCOUNT, type RevisedSlot, recordInBatch, registryStatusOf } from '#verifier/status.ts'
import type { Found } from './anchoring.ts'
import type { Outbox, PayloadStore, RegistryReader } from './ports.ts'
import { isWholeBatch, type RecordKey, type TrustedRecord } from './record.ts'

/** A document or batch that can be revoked, suspended and released, as it is in the registry. */
export type Revisable = {
  isIssued: boolean
  /** The status. For a document in a batch, it includes the revocation of the batch. */
  status: RegistryStatus
  /** The revocation in its own record. */
  record: Pick<TrustedRecord, 'revokedBlock' | 'revokedAt' | 'reason' | 'revoker'>
}

/**
 * Reads the document or batch of a key.
 *
 * @param validUntil For a document in a batch, the expiry in its leaf; absent = never expires.
 * @throws {ChainError}, {IssueError} `chain_unavailable`.
 */
export async function readRevisable(
  { issuerId, registry, chain }: { issuerId: number; registry: RegistryReader; chain: ChainReader },
  key: RecordKey & { validUntil?: number },
  signal: AbortSignal,
): Promise<Revisable> {
  const { documentHash, root, validUntil = 0 } = key
  if (root === undefined) {
    const { status, ...reading } = await chain.read({ issuerId, documentHash }, { signal })
    const record = { ...reading.record, revoker: reading.revoker }
    return { isIssued: record.anchoredBlock !== 0, status, record }
  }
  const ofBatch = { documentHash: root, root }
  const records = await registry.records(isWholeBatch(key) ? [ofBatch] : [ofBatch, key])
  const [batch, own = batch] = records
  if (batch === undefined || own === undefined)
    throw new TypeError('the registry must return a record for each key')
  const isIssued = batch.anchoredBlock !== 0
  const shown =
    own === batch ? slotOfBatch(batch) : recordInBatch(slotOf(own), slotOf(batch), validUntil)
  return { isIssued, record: own, status: isIssued ? statusOf(shown, batch) : 'not_issued' }
}

/** @returns Whether the document, or its batch, is promised or was anchored recently. */
export async function isPromised(
  outbox: Pick<Outbox, 'find'>,
  { documentHash, root }: RecordKey,
): Promise<boolean> {
  const found = await outbox.find('issue', root ?? documentHash)
  // A root names a batch, not a document that was issued alone.
  return found !== undefined && found.action.root === root
}

/**
 * @param issuerId The issuer that the gateway writes for.
 * @returns A function that finds the action to issue a document, or to issue its batch. The hash in
 * its key is the one in the publicId, so for a document in a batch that of its batch block.
 */
export function createFindIssue(
  issuerId: number,
  outbox: Outbox,
  store: Pick<PayloadStore, 'get'>,
): (key: DocumentKey) => Promise<Found | undefined> {
  async function rootIn(hash: Hex): Promise<Hex | undefined> {
    const read = await store.get(fromHex(hash))
    if (read.status !== 'found') return undefined
    try {
      return decodeBatchBlock(read.bytes).root
    } catch (error) {
      if (error instanceof FormatError) return undefined
      throw error
    }
  }

  return async ({ issuerId: of, documentHash }) => {
    if (of !== issuerId) return undefined
    const found = await outbox.find('issue', documentHash)
    if (found !== undefined) return found
    const root = await rootIn(documentHash)
    return root && outbox.find('issue', root)
  }
}

/** @returns The status of a batch that is in the registry. */
export function statusOfBatch(batch: TrustedRecord): RegistryStatus {
  return statusOf(slotOfBatch(batch), batch)
}

function slotOf(record: TrustedRecord): RevisedSlot {
  return { record, revoker: record.revoker }
}

/** The size of a batch is stored where a document has its expiry. */
function slotOfBatch(batch: TrustedRecord): RevisedSlot {
  return slotOf({ ...batch, validUntil: 0 })
}

function statusOf(slot: RevisedSlot, { anchoredBlock, distrusted }: TrustedRecord) {
  const account = { ...NO_ACCOUNT, distrustedFrom: distrusted ? anchoredBlock : 0 }
  return registryStatusOf({ ...slot, account, blockTime: clock.wall() / 1000 })
}
