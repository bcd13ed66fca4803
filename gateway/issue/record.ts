import type { Hex } from '../../document/hex.ts'
import type { RegistryRecord } from '../../verifier/ports.ts'
import { RELEASED, SUSPENDED } from '../../verifier/reasons.ts'

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

/** A record, and whether it reads Distrusted. */
export type TrustedRecord = RegistryRecord & { distrusted: boolean }

/** The meaning of a record's revocation fields. */
export type Revocation = 'none' | 'suspended' | 'released' | 'final'

export function revocationOf({
  revokedBlock,
  reason,
}: {
  revokedBlock: number
  reason: number
}): Revocation {
  return revokedBlock === 0 ? 'none' : revocationBy(reason)
}

/** The meaning of a reason code that a revocation has written. */
export function revocationBy(reason: number): Exclude<Revocation, 'none'> {
  if (reason === SUSPENDED) return 'suspended'
  return reason === RELEASED ? 'released' : 'final'
}

/** The registry's events about a document or a batch; a suspension is a revocation there. */
export type RegistryEvent = 'issued' | 'revoked' | 'released'
