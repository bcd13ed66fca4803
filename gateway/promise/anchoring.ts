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

/** The outcomes of some intents, as the outbox needs them. */
export type Resolution = {
  anchored: readonly Anchored[]
  /** Can never be anchored, or there is nothing to do: they leave the outbox. */
  gone: readonly Intent[]
}

/** What a look at the chain found about anchored intents. */
export type Review = {
  /** In a final block: they leave the outbox. */
  final: readonly Anchored[]
  /** Can never be anchored, or there is nothing to do: they leave the outbox. */
  gone: readonly Anchored[]
  /** A reorg moved them. */
  moved: readonly Moved[]
  /** A reorg dropped them: back in the queue. */
  dropped: readonly Anchored[]
}
