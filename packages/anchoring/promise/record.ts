import type { Hex } from '#document/hex.ts'
import type { RegistryAccount, RegistryRecord } from '#verifier/ports.ts'
import { RELEASED, SUSPENDED } from '#verifier/reasons.ts'
import { isSuspended } from '#verifier/status.ts'

/** The key of a record. */
export type RecordKey = {
  /** The hash of a document, or the root of a batch. */
  documentHash: Hex
  /**
   * Absent for a document that was issued alone; the documentHash itself for a batch; the root of
   * its batch for a document in one, whose record has only a revocation.
   */
  root?: Hex
}

/** @returns Whether a key is that of a batch. */
export function isWholeBatch({ documentHash, root }: RecordKey): boolean {
  return root === documentHash
}

/** @returns Whether a key is that of a document in a batch. */
export function isInBatch({ documentHash, root }: RecordKey): boolean {
  return root !== undefined && root !== documentHash
}

/** A record, and which of its accounts are distrusted. */
export type TrustedRecord = RegistryRecord & {
  /** Whether the record is distrusted. */
  distrusted: boolean
  /** The account that last revoked, suspended or released it; `null` when none did. */
  revoker: Pick<RegistryAccount, 'distrustedFrom'> | null
}

/** The meaning of a record's revocation fields. */
export type Revocation = 'none' | 'suspended' | 'released' | 'final'

/**
 * @returns The meaning of a record's revocation fields. It is `suspended` also for a release that
 * does not count because its account is distrusted.
 */
export function revocationOf({
  revoker,
  ...record
}: Pick<TrustedRecord, 'revokedBlock' | 'reason' | 'revoker'>): Revocation {
  if (isSuspended(record, revoker)) return 'suspended'
  return record.revokedBlock === 0 ? 'none' : revocationBy(record.reason)
}

/** @returns The meaning of a reason code that a revocation has written. */
export function revocationBy(reason: number): Exclude<Revocation, 'none'> {
  if (reason === SUSPENDED) return 'suspended'
  return reason === RELEASED ? 'released' : 'final'
}

/** The registry's events about a document or a batch. A suspension is an event of a revocation. */
export type RegistryEvent = 'issued' | 'revoked' | 'released'
