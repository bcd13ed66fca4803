import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '../../document/hex.ts'
import type { Batcher } from './batcher.ts'
import { keyOfIntent } from './intent.ts'
import { blocksOf, readTransactions } from './outcome.ts'
import type { Anchored, BlockId, Intent, Outbox, Registry } from './ports.ts'

const PERIOD = 2_000
/** Intents that are read in one call, and changed in one write. */
const CHUNK = 500
/** In place of the hash of a block that is yet to be looked at. */
const UNSEEN: Hex = '0x'

/**
 * Lets intents leave the outbox when their block is final, and has those anchored again that a reorg dropped before.
 *
 * However many intents wait, a look costs one call for each new block and one for the newest that is known: a block that has its
 * hash still has its transactions, and the blocks before it. Records are read when intents leave, and when their block is gone;
 * so what hashes may have hidden (a reorg there and back between two looks) is found before it is too late.
 *
 * @returns A function that ends it.
 */
export function watchFinality(deps: {
  registry: Registry
  outbox: Outbox
  batcher: Batcher
  log: (event: string, fields?: Record<string, unknown>) => void
}): () => Promise<void> {
  const { registry, outbox, batcher, log } = deps
  const stop = new AbortController()
  /** Blocks that the chain had at the last look, by number. */
  let known: BlockId[] = []
  /** Blocks that it did not have then. */
  let missing = new Set<string>()

  async function look(): Promise<void> {
    if (outbox.blocks().length === 0) return
    const finalized = await finalizedBlock()
    await inChunks(
      () => outbox.anchoredUpTo(finalized, CHUNK),
      (some) => review(some, finalized),
    )
    await lookAtBlocks(finalized)
  }

  /** What is unknown lets nothing leave the outbox, and does not keep reorgs from being seen. */
  async function finalizedBlock(): Promise<number> {
    try {
      return await registry.finalizedBlock()
    } catch (error) {
      log('finality_unknown', { error: String(error) })
      return 0
    }
  }

  async function lookAtBlocks(finalized: number): Promise<void> {
    const blocks = new Map(outbox.blocks().map((one) => [keyOfBlock(one), one]))
    known = known.filter((block) => blocks.delete(keyOfBlock(block)))
    const missed = missing
    missing = new Set()
    const found: BlockId[] = []
    for (const [key, block] of blocks) {
      if (stop.signal.aborted) return
      const hash = await registry.blockHash(block.blockNumber)
      if (hash === block.blockHash) found.push(block)
      // The first time, the node may be behind, or the transactions on their way into another block.
      else if (block.blockHash !== UNSEEN && !missed.has(key)) missing.add(key)
      else await reviewBlock(block, hash, finalized)
    }
    // Last, so that no block is known beside one that has taken its place.
    await forgetReplaced()
    known = [...known, ...found].sort(
      (one, other) => one.blockNumber - other.blockNumber,
    )
  }

  async function forgetReplaced(): Promise<void> {
    for (let last = known.at(-1); last; last = known.at(-1)) {
      const hash = await registry.blockHash(last.blockNumber)
      if (hash === last.blockHash) return
      missing.add(keyOfBlock(last))
      known.pop()
    }
  }

  /** @param hash What has the block's number now; asked for before the records are, so that it is never newer than they. */
  async function reviewBlock(
    block: BlockId,
    hash: Hex | null,
    finalized: number,
  ): Promise<void> {
    const { blockNumber } = block
    await inChunks(
      () => outbox.anchoredIn(block, CHUNK),
      (some) =>
        review(some, finalized, { blockNumber, blockHash: hash ?? UNSEEN }),
    )
  }

  /** @param work Says whether it moved all of them on; if not, they wait for the next look. */
  async function inChunks(
    next: () => Anchored[],
    work: (some: readonly Anchored[]) => Promise<boolean>,
  ): Promise<void> {
    while (!stop.signal.aborted) {
      const some = next()
      if (some.length === 0 || !(await work(some))) return
    }
  }

  /**
   * Acts on what the records of some intents say.
   *
   * @param seen The block that has the number of theirs now.
   * @returns Whether all of them are elsewhere now; not so when the node contradicts itself.
   */
  async function review(
    some: readonly Anchored[],
    finalized: number,
    seen?: BlockId,
  ): Promise<boolean> {
    const blocks = await blocksOf(
      registry,
      some.map(({ intent }) => intent),
    )
    const [final, taken, dropped]: [Intent[], Intent[], Intent[]] = [[], [], []]
    const moved: Anchored[] = []
    let stuck = false
    some.forEach(({ intent, anchoring }, i) => {
      const blockNumber = blocks[i] ?? 'absent'
      if (blockNumber === 'absent') dropped.push(intent)
      else if (blockNumber === 'taken') taken.push(intent)
      else if (blockNumber <= finalized) final.push(intent)
      else {
        const known = blockNumber === seen?.blockNumber
        const blockHash = known ? seen.blockHash : UNSEEN
        const now = { ...anchoring, blockNumber, blockHash }
        moved.push({ intent, anchoring: now })
        stuck ||= keyOfBlock(now) === keyOfBlock(anchoring)
      }
    })

    await outbox.remove([...final, ...taken])
    if (taken.length > 0)
      log('lost to another issuer after a reorg', { intents: taken.length })
    if (moved.length > 0)
      await outbox.reanchor(await withTransactions(registry, moved))
    if (dropped.length > 0) {
      log('dropped by a reorg, again', { intents: dropped.length })
      await outbox.requeue(dropped)
      batcher.enqueue(dropped)
    }
    return !stuck
  }

  async function run(): Promise<void> {
    // Not at once: at the start there is enough to do until the first request can be taken.
    while (
      await sleep(PERIOD, true, { signal: stop.signal }).catch(() => false)
    )
      await look().catch((error) =>
        log('blocks_unread', { error: String(error) }),
      )
  }

  const running = run()
  return async () => {
    stop.abort()
    await running
  }
}

/** The transactions that carry them now; where the node has no event, the ones that did. */
async function withTransactions(
  registry: Registry,
  moved: readonly Anchored[],
): Promise<Anchored[]> {
  const transactions = await readTransactions(
    registry,
    moved.map(({ intent }) => intent),
    moved.map(({ anchoring }) => anchoring.blockNumber),
  )
  return moved.map(({ intent, anchoring }) => {
    const found = transactions.get(keyOfIntent(intent))
    const { transactionHash } = found ?? anchoring
    return { intent, anchoring: { ...anchoring, transactionHash } }
  })
}

function keyOfBlock({ blockNumber, blockHash }: BlockId): string {
  return `${blockNumber} ${blockHash}`
}
