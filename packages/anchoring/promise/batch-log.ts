import type { Hex } from '#document/hex.ts'
import type { IssueAction } from './action.ts'
import type { IndexEntry } from './document-index.ts'
import type { Lock } from './lock.ts'

/** A request for a batch, as it was first made. Repeating it gives the same batch. */
export type BatchClaim = {
  /** A keyed hash of the body. */
  content: Uint8Array
  /** When its documents were checked; milliseconds of the Unix epoch. */
  checkedAt: number
  isPromised: boolean
}

/** A batch that was promised. */
export type KnownBatch = {
  /** The id, which grows with each batch. */
  id: number
  root: Hex
  /** The number of documents. */
  size: number
  /** The sha-256 of the root block of its manifest. */
  manifest: Hex
  /** The tenant that requested it first. */
  tenant: string
}

/** The batches that were requested from this gateway. */
export type BatchLog = {
  /** @param request A keyed digest of the request's key, 32 bytes. */
  find(request: Uint8Array): Promise<BatchClaim | undefined>
  /** @returns The first claim of this request. */
  claim(request: Uint8Array, claim: Omit<BatchClaim, 'isPromised'>): Promise<BatchClaim>
  /**
   * Promises the batch of a request: lists it and its documents, and adds its action to the outbox.
   *
   * @param batch With who issues it (see `formatActor`), and whether the chain has it already.
   * @param lock The lock of the request, which the promise is written with.
   * @returns Whether it is promised for the first time.
   * @throws {LockLost} when another gateway may work on the request and have deleted payloads.
   */
  promise(
    request: Uint8Array,
    batch: Omit<KnownBatch, 'id'> & { actor?: string; isAnchored?: boolean },
    lock: Lock,
  ): Promise<boolean>
}

/**
 * Stores the data of a request before its batch is promised. It cannot be found yet, and stays
 * behind after a kill. All methods resolve when the data is durable.
 */
export type BatchDrafts = {
  /** Stores blocks. */
  put(request: Uint8Array, blocks: readonly DraftBlock[]): Promise<void>
  /**
   * Adds documents to the index, where they appear once their batch is promised.
   *
   * @returns The documents that have been erased.
   */
  index(
    request: Uint8Array,
    batch: Omit<KnownBatch, 'id'>,
    documents: readonly DraftDocument[],
  ): Promise<ReadonlySet<Hex>>
  /** Deletes everything that a request stored, or only its note when the batch is promised. */
  discard(request: Uint8Array): Promise<void>
  /**
   * Deletes what earlier processes left behind.
   *
   * @returns The number of requests that left something behind.
   */
  discardAll(signal: AbortSignal): Promise<number>
}

/** A block and its sha-256, 32 bytes. */
export type DraftBlock = { hash: Uint8Array; bytes: Uint8Array }
/** A document of a batch for the index. */
export type DraftDocument = { documentHash: Hex; entry: IndexEntry }

/** The list of these batches. */
export type BatchList = {
  /**
   * @param tenant The tenant of the batches; `null` = all tenants.
   * @param before Only batches with a lower id; absent = all.
   * @returns The batches, the newest first.
   */
  list(tenant: string | null, before: number | undefined, limit: number): Promise<KnownBatch[]>
  get(root: Hex): Promise<KnownBatch | undefined>
}

/** @returns The action that issues a batch. */
export function actionOfBatch(batch: Omit<KnownBatch, 'id'>): IssueAction {
  const { root, size, manifest, tenant } = batch
  return { kind: 'issue', documentHash: root, root, validUntil: size, manifest, tenant }
}
