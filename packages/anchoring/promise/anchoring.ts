import type { Hex } from '#document/hex.ts'
import type { Action } from './action.ts'

/** A block as it was seen. After a reorg, another block has its number. */
export type BlockId = { blockNumber: number; blockHash: Hex }

export function keyOfBlock({ blockNumber, blockHash }: BlockId): string {
  return `${blockNumber} ${blockHash}`
}

/** A placeholder for the hash of a block that has not been read yet. */
export const UNSEEN: Hex = '0x'

/**
 * Where an action is anchored. `transactionHash` is `null` when no node still has its block.
 * `reason` is that of a final revocation on the chain; it differs from the action's when somebody
 * else revoked first.
 */
export type Anchoring = BlockId & { transactionHash: Hex | null; reason?: number }

/**
 * The outcome of an action, or of the request for it.
 *
 * - `pending`: it is in the outbox and will be anchored; the hash is that of its newest attempt.
 * - `anchored`: it is on the chain; `byAnother` = not by a transaction that carried the action, but
 *   by an earlier one or one of another gateway.
 * - `conflict`: the issuer has a record of this hash with another expiry, so that this one can
 *   never be issued.
 * - `distrusted`: the record of this hash is distrusted. Issuing it again would make it valid,
 *   which is for an operator to decide.
 * - `moot`: there is nothing to do, because the revocation is final, the document is not suspended,
 *   or somebody undid the change after it was made.
 * - `absent`: it is not on the chain.
 */
export type Outcome =
  | { status: 'pending'; transactionHash: Hex | null }
  | ({ status: 'anchored'; byAnother?: boolean } & Anchoring)
  | Undone
export type Undone = { status: 'conflict' | 'distrusted' | 'moot' | 'absent' }

export const ABSENT: Undone = { status: 'absent' }

/**
 * An action in the outbox with its outcome. A revocation has the reason of its first request.
 */
export type Found = {
  action: Action
  outcome: Exclude<Outcome, Undone>
}

/**
 * An action that is on the chain, in a block that may not be final yet. A later change applies only
 * while the outbox still has the action there.
 */
export type Anchored = { action: Action; anchoring: Anchoring }
