import type { Hex } from '../../document/hex.ts'
import { type BlockId, keyOfBlock, UNSEEN } from './anchoring.ts'
import type { AnchorBlocks, Blocks } from './ports.ts'

/** Maximum blocks for one read and one write of the outbox. */
const BLOCKS_AT_ONCE = 500

/** Finds out which blocks of anchored intents the chain still has. */
export type BlockWatch = {
  /** Whether no intent waits for finality. */
  isIdle(): Promise<boolean>
  /**
   * Looks at the blocks that were not seen on the chain yet, then at the newest one that was.
   *
   * @param replaced Called for each block that the chain did not have at two looks, with the hash
   * of the block that has its number now; `null` when there is none.
   */
  look(replaced: (block: BlockId, hash: Hex | null) => Promise<void>): Promise<void>
}

/** @param deps.signal Ends a look early. */
export function createBlockWatch(deps: {
  blocks: Pick<Blocks, 'blockHash'>
  outbox: AnchorBlocks
  signal: AbortSignal
}): BlockWatch {
  const { blocks, outbox, signal } = deps
  /** Blocks that the chain did not have at the last look. */
  let missing = new Set<string>()

  /** @param missed Blocks that were missing at the previous look. */
  async function lookAtNew(
    some: readonly BlockId[],
    missed: ReadonlySet<string>,
    replaced: (block: BlockId, hash: Hex | null) => Promise<void>,
  ): Promise<void> {
    const found: BlockId[] = []
    for (const block of some) {
      if (signal.aborted) return
      const key = keyOfBlock(block)
      // Read before the records, so that it is never newer than they are.
      const hash = await blocks.blockHash(block.blockNumber)
      if (hash === block.blockHash) found.push(block)
      // The first time, the node may be behind, or the transactions about to enter another
      // block.
      else if (block.blockHash !== UNSEEN && !missed.has(key)) missing.add(key)
      else await replaced(block, hash)
    }
    if (found.length > 0) await outbox.note(found, true)
  }

  async function forgetReplaced(): Promise<void> {
    for (let last = await outbox.newestSeen(); last; last = await outbox.newestSeen()) {
      const hash = await blocks.blockHash(last.blockNumber)
      if (hash === last.blockHash || signal.aborted) return
      missing.add(keyOfBlock(last))
      await outbox.note([last], false)
    }
  }

  return {
    async isIdle() {
      const [unseen] = await outbox.unseen(undefined, 1)
      return unseen === undefined && (await outbox.newestSeen()) === undefined
    },

    async look(replaced) {
      const missed = missing
      missing = new Set()
      let last: BlockId | undefined
      do {
        const some = await outbox.unseen(last, BLOCKS_AT_ONCE)
        await lookAtNew(some, missed, replaced)
        last = some.at(-1)
      } while (last && !signal.aborted)
      // Last, so that a block and its replacement are never both known.
      await forgetReplaced()
    },
  }
}
