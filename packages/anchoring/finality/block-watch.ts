import { type BlockId, keyOfBlock, UNSEEN } from '#promise/anchoring.ts'
import type { Blocks, SentBlocks } from '#promise/ports.ts'

/** The maximum number of blocks between two writes, so that a poll that fails has done something. */
const MAX_BLOCKS = 64
/** The number of blocks that are read at the same time. */
const READS = 8

/** Finds out which blocks of sends the chain still has. */
export type BlockWatch = {
  /** @returns Whether no send waits for finality. */
  isIdle(): Promise<boolean>
  /**
   * Checks the blocks that were not yet seen on the chain, and the newest one that was. All seen
   * blocks belong to one chain, so as long as it has the newest, it has the others.
   *
   * @param replaced Called with blocks that the chain did not have at two polls, and with those
   * whose hash is unknown.
   * @returns Whether the chain did not have some block, which the next poll decides.
   */
  poll(replaced: (blocks: readonly BlockId[]) => Promise<void>): Promise<boolean>
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

  /** @returns Which of the blocks the chain has. */
  async function whichAreThere(some: readonly BlockId[]): Promise<boolean[]> {
    const are: boolean[] = []
    for (let i = 0; i < some.length && !signal.aborted; i += READS) {
      const reads = some.slice(i, i + READS).map(async ({ blockNumber, blockHash }) => {
        return (await blocks.blockHash(blockNumber)) === blockHash
      })
      are.push(...(await Promise.all(reads)))
    }
    return are
  }

  async function forgetReplaced(): Promise<void> {
    while (!signal.aborted) {
      const some = await outbox.newestSeen(1)
      if ((await whichAreThere(some)).every(Boolean)) return
      const more = await outbox.newestSeen(MAX_BLOCKS)
      const newest = (await whichAreThere(more)).indexOf(true)
      if (signal.aborted) return
      const gone = newest === -1 ? more : more.slice(0, newest)
      for (const block of gone) missing.add(keyOfBlock(block))
      await outbox.note(gone, false)
    }
  }

  return {
    async isIdle() {
      const [unseen] = await outbox.unseen(undefined, 1)
      const [seen] = await outbox.newestSeen(1)
      return unseen === undefined && seen === undefined
    },

    async poll(replaced) {
      const missed = missing
      missing = new Set()
      let some = await outbox.unseen(undefined, MAX_BLOCKS)
      do {
        const areThere = await whichAreThere(some)
        if (signal.aborted) return false
        const others = some.filter((_, i) => !areThere[i])
        // The first time, the node may be behind, or the transactions may be about to enter another
        // block.
        const gone = others.filter((one) => one.blockHash === UNSEEN || missed.has(keyOfBlock(one)))
        for (const one of others) if (!gone.includes(one)) missing.add(keyOfBlock(one))
        // This comes in between, because nobody would check the blocks before a newer block of
        // another fork.
        await forgetReplaced()
        await outbox.note(
          some.filter((_, i) => areThere[i]),
          true,
        )
        if (gone.length > 0) await replaced(gone)
        const last = some.at(-1)
        some = last ? await outbox.unseen(last, MAX_BLOCKS) : []
      } while (some.length > 0 && !signal.aborted)
      return missing.size > 0
    },
  }
}
