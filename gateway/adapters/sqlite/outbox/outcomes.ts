import type { Anchored, Anchoring, Resolution } from '../../../issue/anchoring.ts'
import type { Plan } from '../../../issue/plan.ts'
import type { Database } from '../database.ts'
import type { BlockWriter } from './blocks.ts'
import type { Opposites } from './opposites.ts'

/**
 * Writes what the chain shows of intents. For use within a write.
 *
 * @param plan The plan that carries them all, if one does.
 */
export type WriteOutcome = (outcome: Resolution, plan?: Plan) => void

export function createWriteOutcome(
  database: Database,
  blocks: BlockWriter,
  opposites: Opposites,
): WriteOutcome {
  const anchorEach = createAnchorEach(database, blocks)
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

function createAnchorEach({ sqlite }: Database, blocks: BlockWriter) {
  const anchor = sqlite.prepare(`
    UPDATE intent SET plan = NULL, block_number = ?, block_hash = ?, transaction_hash = ?
    WHERE document_hash = ? AND kind = ?`)

  return (anchored: readonly Anchored[]) => {
    for (const { intent, anchoring } of anchored) {
      const { blockNumber, blockHash, transactionHash } = anchoring
      blocks.add(anchoring)
      anchor.run(blockNumber, blockHash, transactionHash, intent.documentHash, intent.kind)
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
      ({ anchoring }) =>
        anchoring.blockHash === first?.blockHash &&
        anchoring.transactionHash === first.transactionHash,
    )
  return isShared ? first : undefined
}
