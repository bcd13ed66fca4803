import type { Hex } from '../../document/hex.ts'
import { RELEASED, SUSPENDED } from '../../verifier/reasons.ts'
import type { Intent, RegistryEvent, RevisionIntent } from './ports.ts'

/** Identifies an intent: there is one of each kind for a document. */
export type IntentKey = `${Intent['kind']} ${Hex}`

export function keyOf(kind: Intent['kind'], documentHash: Hex): IntentKey {
  return `${kind} ${documentHash}`
}

export function keyOfIntent({ kind, documentHash }: Intent): IntentKey {
  return keyOf(kind, documentHash)
}

/** The RFC 5280 reason code that a revision writes into the record. */
export function reasonOf(intent: RevisionIntent): number {
  if (intent.kind === 'revoke') return intent.reason
  return intent.kind === 'suspend' ? SUSPENDED : RELEASED
}

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

/** The event of each kind. */
export const EVENTS: Record<Intent['kind'], RegistryEvent> = {
  issue: 'issued',
  revoke: 'revoked',
  suspend: 'revoked',
  release: 'released',
}
