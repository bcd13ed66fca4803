import type { Hex } from '../../document/hex.ts'
import type { IssueIntent } from './intent.ts'

/** A request for a batch, as it was first made. Its repeats give the same batch. */
export type BatchClaim = {
  /** The sha-256 of its body. */
  content: Uint8Array
  /** When its documents were checked; milliseconds of the Unix epoch. */
  checkedAt: number
}

/** A batch that was promised. */
export type KnownBatch = {
  /** Grows with each. */
  id: number
  root: Hex
  /** How many documents it holds. */
  size: number
  /** The sha-256 of the root block of its manifest. */
  manifest: Hex
  /** Who requested it first. */
  tenant: string
}

/** The batches that were requested from this gateway. */
export type BatchLog = {
  /** @param request A keyed digest of the request's key, 32 bytes. */
  find(request: Uint8Array): Promise<BatchClaim | undefined>
  /** @returns The first claim of this request. */
  claim(request: Uint8Array, claim: BatchClaim): Promise<BatchClaim>
  /**
   * Promises a batch: lists it and adds its intent to the outbox.
   *
   * @returns Whether it was not listed before.
   */
  promise(batch: Omit<KnownBatch, 'id'>): Promise<boolean>
}

/** The list of these batches. */
export type BatchList = {
  /**
   * @param tenant Whose batches; `null` = of all tenants.
   * @param before Only batches with a lower id; absent = all.
   * @returns The newest first.
   */
  list(tenant: string | null, before: number | undefined, limit: number): Promise<KnownBatch[]>
  get(root: Hex): Promise<KnownBatch | undefined>
}

/** @returns The intent that issues a batch. */
export function intentOfBatch(batch: Omit<KnownBatch, 'id'>): IssueIntent {
  const { root, size, manifest, tenant } = batch
  return { kind: 'issue', documentHash: root, root, validUntil: size, manifest, tenant }
}
