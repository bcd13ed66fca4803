import { type Document, validUntilOf } from '#document/document.ts'
import { type Hex, toHex } from '#document/hex.ts'
import type { Sealed } from '#document/sealed.ts'
import { RELEASED, SUSPENDED } from '#verifier/reasons.ts'
import type { RecordKey, RegistryEvent } from './record.ts'

type Requested = {
  /**
   * The tenant that requested it; absent = a command. Events of a revision go to the tenant that
   * issued the record.
   */
  tenant?: string
  /** Who requested it, as `formatActor` writes it. It is stored beside the intent, for the history. */
  actor?: string | undefined
}

/** A document or a batch to issue. A document in a batch is issued with its batch. */
export type IssueIntent = Requested &
  RecordKey & {
    kind: 'issue'
    /** Seconds of the Unix epoch, 0 = never expires. For a batch, its size, as in the registry. */
    validUntil: number
    /** For a batch, the sha-256 of its manifest. */
    manifest?: Hex
  }

/** A document or a batch to revoke permanently, to suspend, or to release from a suspension. */
export type RevisionIntent = Requested &
  RecordKey &
  (
    | {
        kind: 'revoke'
        /** The RFC 5280 reason code of a final revocation. */
        reason: number
      }
    | { kind: 'suspend' }
    | { kind: 'release' }
  )

/** A change to make on the chain. A record has at most one of each kind. */
export type Intent = IssueIntent | RevisionIntent

/** @param requested Who requests it. */
export function issueIntentOf(
  document: Document,
  { documentHash }: Sealed,
  { tenant, actor }: { tenant: string; actor?: string | undefined },
): IssueIntent {
  return {
    kind: 'issue',
    documentHash: toHex(documentHash),
    validUntil: validUntilOf(document),
    tenant,
    ...(actor !== undefined && { actor }),
  }
}

/** Identifies an intent, because a record has at most one of each kind. */
export type IntentKey = `${Intent['kind']} ${Hex}`

export function keyOf(kind: Intent['kind'], documentHash: Hex): IntentKey {
  return `${kind} ${documentHash}`
}

export function keyOfIntent({ kind, documentHash }: Intent): IntentKey {
  return keyOf(kind, documentHash)
}

/** @returns Whether another account of the issuer can undo it later. */
export function canBeUndone({ kind }: Intent): boolean {
  return kind === 'suspend' || kind === 'release'
}

/** @returns The RFC 5280 reason code that a revision writes into the record. */
export function reasonOf(intent: RevisionIntent): number {
  if (intent.kind === 'revoke') return intent.reason
  return intent.kind === 'suspend' ? SUSPENDED : RELEASED
}

/** The event of each kind of intent. */
export const EVENTS: Record<Intent['kind'], RegistryEvent> = {
  issue: 'issued',
  revoke: 'revoked',
  suspend: 'revoked',
  release: 'released',
}
