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
  /** Who requested it, as `formatActor` writes it. It is stored beside the action, for the history. */
  actor?: string | undefined
}

/** A document or a batch to issue. A document in a batch is issued with its batch. */
export type IssueAction = Requested &
  RecordKey & {
    kind: 'issue'
    /** Seconds of the Unix epoch, 0 = never expires. For a batch, its size, as in the registry. */
    validUntil: number
    /** For a batch, the sha-256 of its manifest. */
    manifest?: Hex
  }

/** A document or a batch to revoke permanently, to suspend, or to release from a suspension. */
export type RevisionAction = Requested &
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
export type Action = IssueAction | RevisionAction

/** @param requested Who requests it. */
export function issueActionOf(
  document: Document,
  { documentHash }: Sealed,
  { tenant, actor }: { tenant: string; actor?: string | undefined },
): IssueAction {
  return {
    kind: 'issue',
    documentHash: toHex(documentHash),
    validUntil: validUntilOf(document),
    tenant,
    ...(actor !== undefined && { actor }),
  }
}

/** Identifies an action, because a record has at most one of each kind. */
export type ActionKey = `${Action['kind']} ${Hex}`

export function keyOf(kind: Action['kind'], documentHash: Hex): ActionKey {
  return `${kind} ${documentHash}`
}

export function keyOfAction({ kind, documentHash }: Action): ActionKey {
  return keyOf(kind, documentHash)
}

/** @returns Whether another account of the issuer can undo it later. */
export function canBeUndone({ kind }: Action): boolean {
  return kind === 'suspend' || kind === 'release'
}

/** @returns The RFC 5280 reason code that a revision writes into the record. */
export function reasonOf(action: RevisionAction): number {
  if (action.kind === 'revoke') return action.reason
  return action.kind === 'suspend' ? SUSPENDED : RELEASED
}

/** The event of each kind of action. */
export const EVENTS: Record<Action['kind'], RegistryEvent> = {
  issue: 'issued',
  revoke: 'revoked',
  suspend: 'revoked',
  release: 'released',
}
