import { type BlockId, keyOfBlock, UNSEEN } from '#promise/anchoring.ts'
import type { Blocks, SentBlocks } from '#promise/ports.ts'

/** The maximum number of blocks for one read and one write. */
const MAX_BLOCKS = 500

/** Finds out which blocks of sends the chain still has. */
export type BlockWatch = {
  /** @returns Whether no send waits for finality. */
  isIdle(): Promise<boolean>
  /**
   * Checks the blocks that were not yet seen on the chain, and the newest one that was. All seen
   * blocks belong to one chain, so as long as it has the newest, it has the others.
   *
   * @param replaced Called for each block that the chain did not have at two polls, and for those
   * whose hash is unknown.
   */
  poll(replaced: (block: BlockId) => Promise<void>): Promise<void>
}

/** @param deps.signal Ends a poll early. */
export function createBlockWatch(deps: {
  blocks: Pick<Blocks, 'blockHash'>
  outbox: Pick<SentBlocks, 'unseen' | 'newestSeen' | 'note'>
  signal: AbortSignal
}): BlockWatch {
  const { blocks, outbox, signal } = deps
  /** The blocks that the chain did not have at the last poll. */
  let missing = new Set<string>()

  /**
   * @param missed The blocks that were missing at the previous poll.
   * @returns The blocks that the chain has.
   */
  async function checkNew(
    some: readonly BlockId[],
    missed: ReadonlySet<string>,
    replaced: (block: BlockId) => Promise<void>,
  ): Promise<BlockId[]> {
    const found: BlockId[] = []
    for (const block of some) {
      if (signal.aborted) return []
      const key = keyOfBlock(block)
      const hash = await blocks.blockHash(block.blockNumber)
      if (hash === block.blockHash) found.push(block)
      // The first time, the node may be behind, or the transactions may be about to enter another
      // block.
      else if (block.blockHash !== UNSEEN && !missed.has(key)) missing.add(key)
      else await replaced(block)
    }
    return found
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

    async poll(replaced) {
      const missed = missing
      missing = new Set()
      let some = await outbox.unseen(undefined, MAX_BLOCKS)
      do {
        const found = await checkNew(some, missed, replaced)
        // This comes in between, because nobody would check the blocks before a newer block of
        // another fork.
        await forgetReplaced()
        if (found.length > 0) await outbox.note(found, true)
        const last = some.at(-1)
        some = last ? await outbox.unseen(last, MAX_BLOCKS) : []
      } while (some.length > 0 && !signal.aborted)
    },
  }
}
