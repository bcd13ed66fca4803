import type { Hex } from '#document/hex.ts'
import type { Intent } from './intent.ts'

/** A block as it was seen. After a reorg, another block has its number. */
export type BlockId = { blockNumber: number; blockHash: Hex }

export function keyOfBlock({ blockNumber, blockHash }: BlockId): string {
  return `${blockNumber} ${blockHash}`
}

/** A placeholder for the hash of a block that has not been read yet. */
export const UNSEEN: Hex = '0x'

/**
 * Where an intent is anchored. `transactionHash` is `null` when no node still has its block.
 * `reason` is that of a final revocation on the chain; it differs from the intent's when somebody
 * else revoked first.
 */
export type Anchoring = BlockId & { transactionHash: Hex | null; reason?: number }

/**
 * The outcome of an intent, or of the request for it.
 *
 * - `pending`: it is in the outbox and will be anchored; the hash is that of its newest attempt.
 * - `anchored`: it is on the chain; `byAnother` = not by a transaction that carried the intent, but
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
 * An intent in the outbox with its outcome. A revocation has the reason of its first request.
 */
export type Standing = {
  intent: Intent
  outcome: Exclude<Outcome, Undone>
}

/**
 * An intent that is on the chain, in a block that may not be final yet. A later change applies only
 * while the outbox still has the intent there.
 */
export type Anchored = { intent: Intent; anchoring: Anchoring }

/** @returns The reason of a revocation, and that on the chain; `undefined` when they are equal. */
export function otherReasonOf({
  intent,
  anchoring: { reason },
}: Anchored): { own: number; shown: number } | undefined {
  if (intent.kind !== 'revoke' || reason === undefined || reason === intent.reason) return undefined
  return { own: intent.reason, shown: reason }
}

/** An intent that a reorg moved. */
export type Moved = Anchored & { now: Anchoring }

/**
 * @returns Whether another revocation may have come first in the new block. The block is the same
 * when only its hash has become known.
 */
export function isRevokedAnew({ intent, anchoring, now }: Moved): boolean {
  const isLearned = anchoring.blockHash === UNSEEN && anchoring.blockNumber === now.blockNumber
  return intent.kind === 'revoke' && !isLearned && keyOfBlock(anchoring) !== keyOfBlock(now)
}

/** Intents grouped by the effect of their outcome on the outbox. */
export type SettledIntents = {
  anchored: readonly Anchored[]
  /** Intents that can never be anchored, or that have nothing to do. They leave the outbox. */
  gone: readonly Intent[]
}

/** @param outcomes The outcomes in the order of the intents. Absent intents are queued again. */
export function settledBy(
  intents: readonly Intent[],
  outcomes: readonly (Outcome | undefined)[],
): SettledIntents {
  const anchored: Anchored[] = []
  const gone: Intent[] = []
  intents.forEach((intent, i) => {
    const outcome = outcomes[i] ?? ABSENT
    if (outcome.status === 'anchored') anchored.push({ intent, anchoring: outcome })
    else if (outcome.status !== 'absent') gone.push(intent)
  })
  return { anchored, gone }
}

/** Anchored intents grouped by what was found on the chain. */
export type ReviewedIntents = {
  /** Intents in a final block, which leave the outbox. */
  final: readonly Anchored[]
  /** Intents that can never be anchored, or that have nothing to do. They leave the outbox. */
  gone: readonly Anchored[]
  /** Intents that a reorg moved. */
  moved: readonly Moved[]
  /** Intents that a reorg dropped, which are queued again. */
  dropped: readonly Anchored[]
}
