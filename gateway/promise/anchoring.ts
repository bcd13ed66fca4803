import type { Hex } from '#document/hex.ts'
import type { Intent } from './intent.ts'

/** A block as it was seen. After a reorg, another block has its number. */
export type BlockId = { blockNumber: number; blockHash: Hex }

export function keyOfBlock({ blockNumber, blockHash }: BlockId): string {
  return `${blockNumber} ${blockHash}`
}

/** Placeholder for the hash of a block that was not read yet. */
export const UNSEEN: Hex = '0x'

/**
 * Where an intent is anchored; `transactionHash` is `null` when no node keeps its block any more.
 * `reason`: of a final revocation, the one that the chain shows. It is not that of the intent when
 * somebody else revoked first.
 */
export type Anchoring = BlockId & { transactionHash: Hex | null; reason?: number }

/**
 * What has become of an intent, or of the request for it.
 *
 * - `pending`: it is in the outbox and will be anchored; the hash is that of its newest attempt.
 * - `anchored`; `byAnother`: not by a transaction that carried the intent, but by an earlier one, or
 *   one of another gateway.
 * - `conflict`: the issuer has a record under this hash with another expiry, so that this one can
 *   never be issued.
 * - `distrusted`: the record under this hash reads Distrusted. Issuing it again would make it
 *   valid, which is an operator's decision.
 * - `moot`: nothing to do: the revocation is final, the document is not suspended, or somebody
 *   undid the change after it was made.
 * - `absent`: it is not on the chain.
 */
export type Outcome =
  | { status: 'pending'; transactionHash: Hex | null }
  | ({ status: 'anchored'; byAnother?: boolean } & Anchoring)
  | Undone
export type Undone = { status: 'conflict' | 'distrusted' | 'moot' | 'absent' }

export const ABSENT: Undone = { status: 'absent' }

/**
 * An intent in the outbox (a revocation with the reason of its first request), and its outcome.
 * `promised`: a caller may have got `pending`; `account`: whose engine anchors it, if gateways share
 * the outbox.
 */
export type Standing = {
  intent: Intent
  promised: boolean
  account?: Hex
  outcome: Exclude<Outcome, Undone>
}

/**
 * An intent that is on the chain, in a block that may not be final yet. A later change applies only
 * while the outbox still has it there.
 */
export type Anchored = { intent: Intent; anchoring: Anchoring }

/**
 * @returns The reason of a revocation, and that of the chain; `undefined` when they do not differ.
 */
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
 * Whether another revocation may have come first in the new block. The block stays the same when
 * only its hash has become known.
 */
export function isRevokedAnew({ intent, anchoring, now }: Moved): boolean {
  const isLearned = anchoring.blockHash === UNSEEN && anchoring.blockNumber === now.blockNumber
  return intent.kind === 'revoke' && !isLearned && keyOfBlock(anchoring) !== keyOfBlock(now)
}

/** Intents by what their outcomes do in the outbox. */
export type SettledIntents = {
  anchored: readonly Anchored[]
  /** Can never be anchored, or there is nothing to do: they leave the outbox. */
  gone: readonly Intent[]
}

/** @param outcomes In the order of the intents. Absent intents go back in the queue. */
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

/** Anchored intents by what a look at the chain found. */
export type ReviewedIntents = {
  /** In a final block: they leave the outbox. */
  final: readonly Anchored[]
  /** Can never be anchored, or there is nothing to do: they leave the outbox. */
  gone: readonly Anchored[]
  /** A reorg moved them. */
  moved: readonly Moved[]
  /** A reorg dropped them: back in the queue. */
  dropped: readonly Anchored[]
}
