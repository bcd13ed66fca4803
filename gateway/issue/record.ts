import type { RegistryRecord } from '../../verifier/ports.ts'
import { RELEASED, SUSPENDED } from '../../verifier/reasons.ts'

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
  if (revokedBlock === 0) return 'none'
  if (reason === SUSPENDED) return 'suspended'
  return reason === RELEASED ? 'released' : 'final'
}

/** The registry's events about a document; a suspension is a revocation there. */
export type RegistryEvent = 'issued' | 'revoked' | 'released'
