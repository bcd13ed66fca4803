import { type Document, validUntilOf } from '#document/document.ts'
import { type Hex, toHex } from '#document/hex.ts'
import type { Sealed } from '#document/sealed.ts'
import { RELEASED, SUSPENDED } from '#verifier/reasons.ts'
import type { RecordKey, RegistryEvent } from './record.ts'

type Requested = {
  /** Who requested it; absent = a command. Events of a revision are of who issued the record. */
  tenant?: string
}

/** A document or a batch to issue. Never a document in a batch: its batch is issued. */
export type IssueIntent = Requested &
  RecordKey & {
    kind: 'issue'
    /** Seconds of the Unix epoch; 0 = never expires. Of a batch its size, as in the registry. */
    validUntil: number
    /** The sha-256 of its manifest; of a batch only. */
    manifest?: Hex
  }

/** A document or a batch to revoke permanently, to suspend, or to release from a suspension. */
export type RevisionIntent = Requested &
  RecordKey &
  (
    | {
        kind: 'revoke'
        /** RFC 5280 reason code of a final revocation. */
        reason: number
      }
    | { kind: 'suspend' }
    | { kind: 'release' }
  )

/** A change to make on the chain. There is one of each kind for a record. */
export type Intent = IssueIntent | RevisionIntent

/** An intent that waits for a transaction. */
export type QueuedIntent = {
  intent: Intent
  /** Not before this time, since the chain refused it; milliseconds of the Unix epoch. */
  asideUntil: number | null
  /** Whether it must not be withdrawn. */
  promised: boolean
}

/** @param tenant Who requests it. */
export function issueIntentOf(
  document: Document,
  { documentHash }: Sealed,
  tenant: string,
): IssueIntent {
  return {
    kind: 'issue',
    documentHash: toHex(documentHash),
    validUntil: validUntilOf(document),
    tenant,
  }
}

/** Identifies an intent: there is one of each kind for a record. */
export type IntentKey = `${Intent['kind']} ${Hex}`

export function keyOf(kind: Intent['kind'], documentHash: Hex): IntentKey {
  return `${kind} ${documentHash}`
}

export function keyOfIntent({ kind, documentHash }: Intent): IntentKey {
  return keyOf(kind, documentHash)
}

/** Whether another account of the issuer can undo it later. */
export function canBeUndone({ kind }: Intent): boolean {
  return kind === 'suspend' || kind === 'release'
}

/** The RFC 5280 reason code that a revision writes into the record. */
export function reasonOf(intent: RevisionIntent): number {
  if (intent.kind === 'revoke') return intent.reason
  return intent.kind === 'suspend' ? SUSPENDED : RELEASED
}

/** The event of each kind. */
export const EVENTS: Record<Intent['kind'], RegistryEvent> = {
  issue: 'issued',
  revoke: 'revoked',
  suspend: 'revoked',
  release: 'released',
}
