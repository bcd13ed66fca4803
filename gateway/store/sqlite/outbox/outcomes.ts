import {
  type Anchored,
  type Anchoring,
  otherReasonOf,
  type SettledIntents,
} from '#promise/anchoring.ts'
import type { Plan } from '#promise/plan.ts'
import type { Database } from '../../drivers/sqlite/database.ts'
import type { BlockWriter } from './blocks.ts'
import type { Opposites } from './opposites.ts'

/**
 * Writes what the chain shows of intents. For use within a write.
 *
 * @param plan The plan that carries them all, if one does.
 */
export type WriteOutcome = (settled: SettledIntents, plan?: Plan) => void

/** What the writers of outcomes share. */
export type OutcomeParts = { blocks: BlockWriter; opposites: Opposites; anchorEach: AnchorEach }

export function createWriteOutcome(
  database: Database,
  { blocks, opposites, anchorEach }: OutcomeParts,
): WriteOutcome {
  const anchorPlan = createAnchorPlan(database, blocks)
  const remove = database.sqlite.prepare('DELETE FROM intent WHERE document_hash = ? AND kind = ?')

  return ({ anchored, gone }, plan) => {
    const shared = plan && sharedAnchoring(plan, anchored)
    if (plan && shared) anchorPlan(plan, shared)
    else anchorEach(anchored)
    opposites.deleteUndone(anchored)
    for (const { documentHash, kind } of gone) remove.run(documentHash, kind)
  }
}

/** Anchors intents one by one. For use within a write. */
type AnchorEach = (anchored: readonly Anchored[]) => void

/**
 * Triggers write event and index by the row: it has the chain's reason meanwhile. Then it gets its
 * own back, which counts again when a reorg drops the other revocation.
 */
export function createAnchorEach({ sqlite }: Database, blocks: BlockWriter): AnchorEach {
  const anchor = sqlite.prepare(`
    UPDATE intent SET plan = NULL, block_number = ?, block_hash = ?, transaction_hash = ?
    WHERE document_hash = ? AND kind = ?`)
  const setReason = sqlite.prepare(
    'UPDATE intent SET reason = ? WHERE document_hash = ? AND kind = ?',
  )

  return (anchored) => {
    for (const one of anchored) {
      const { blockNumber, blockHash, transactionHash } = one.anchoring
      const reasons = otherReasonOf(one)
      const key = [one.intent.documentHash, one.intent.kind] as const
      blocks.add(one.anchoring)
      if (reasons) setReason.run(reasons.shown, ...key)
      anchor.run(blockNumber, blockHash, transactionHash, ...key)
      if (reasons) setReason.run(reasons.own, ...key)
    }
  }
}

/** @returns A function that anchors all intents of a plan in one statement. */
function createAnchorPlan({ sqlite }: Database, blocks: BlockWriter) {
  const anchor = sqlite.prepare(`
    UPDATE intent SET plan = NULL, block_number = ?, block_hash = ?, transaction_hash = ?
    WHERE plan = ?`)

  return ({ id }: Plan, anchoring: Anchoring) => {
    blocks.add(anchoring)
    anchor.run(anchoring.blockNumber, anchoring.blockHash, anchoring.transactionHash, id)
  }
}

/**
 * @returns The anchoring that all intents of a plan share, as they usually do; `undefined` when
 *   some are elsewhere or not anchored.
 */
function sharedAnchoring({ intents }: Plan, anchored: readonly Anchored[]): Anchoring | undefined {
  const [first] = anchored.map(({ anchoring }) => anchoring)
  const isShared =
    anchored.length === intents.length &&
    anchored.every(
      (one) =>
        one.anchoring.blockHash === first?.blockHash &&
        one.anchoring.transactionHash === first.transactionHash &&
        !otherReasonOf(one),
    )
  return isShared ? first : undefined
}
