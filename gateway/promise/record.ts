import type { Hex } from '#document/hex.ts'
import type { RegistryAccount, RegistryRecord } from '#verifier/ports.ts'
import { RELEASED, SUSPENDED } from '#verifier/reasons.ts'
import { isSuspended } from '#verifier/status.ts'

/** The key of a record. */
export type RecordKey = {
  /** Of a document; the root of a batch. */
  documentHash: Hex
  /**
   * Absent for a document that was issued alone; the documentHash itself for a batch; the root of
   * its batch for a document in one, whose record has a revocation only.
   */
  root?: Hex
}

/** Whether a key is that of a batch. */
export function isWholeBatch({ documentHash, root }: RecordKey): boolean {
  return root === documentHash
}

/** Whether a key is that of a document in a batch. */
export function isInBatch({ documentHash, root }: RecordKey): boolean {
  return root !== undefined && root !== documentHash
}

/** A record, and which of its accounts are distrusted. */
export type TrustedRecord = RegistryRecord & {
  /** Whether it reads Distrusted. */
  distrusted: boolean
  /** Who last revoked, suspended or released it; `null` while nobody did. */
  revoker: Pick<RegistryAccount, 'distrustedFrom'> | null
}

/** The meaning of a record's revocation fields. */
export type Revocation = 'none' | 'suspended' | 'released' | 'final'

/** @returns `suspended` also for a release that does not count, as its account is distrusted. */
export function revocationOf({
  revoker,
  ...record
}: Pick<TrustedRecord, 'revokedBlock' | 'reason' | 'revoker'>): Revocation {
  if (isSuspended(record, revoker)) return 'suspended'
  return record.revokedBlock === 0 ? 'none' : revocationBy(record.reason)
}

/** The meaning of a reason code that a revocation has written. */
export function revocationBy(reason: number): Exclude<Revocation, 'none'> {
  if (reason === SUSPENDED) return 'suspended'
  return reason === RELEASED ? 'released' : 'final'
}

/** The registry's events about a document or a batch; a suspension is a revocation there. */
export type RegistryEvent = 'issued' | 'revoked' | 'released'
