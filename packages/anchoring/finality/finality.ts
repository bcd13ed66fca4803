import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '#base/log.ts'
import { type Anchored, UNSEEN } from '#promise/anchoring.ts'
import type { AnchorBlocks, Anchorings, Batcher, Blocks, RegistryReader } from '#promise/ports.ts'
import { createBlockWatch } from './block-watch.ts'
import { createReviewing } from './review.ts'

const POLL_INTERVAL_MS = 2_000
/**
 * With slow blocks, a poll is at most once a block, and ever rarer: this fraction of the time since
 * a block with intents was last new. Finality takes minutes there.
 */
const QUIET = { part: 1 / 3, maxMs: 80_000 }
/** The maximum number of intents for one read of the chain and for one write. */
const MAX_INTENTS = 200

/**
 * Removes intents from the outbox when their block is final, and queues those again that a reorg
 * has dropped.
 *
 * A poll costs one call for each new block, one for each block that has become final, and one for
 * the newest known block, regardless of the number of intents: a block with an unchanged hash still
 * has its transactions, and so do the blocks before it. The known blocks are on disk and are read
 * in parts. Records are read when intents leave and when their block is gone. So a reorg that
 * hashes did not show (there and back between two polls) is found before an intent leaves.
 *
 * @returns A function that stops it.
 */
export function watchFinality(deps: {
  registry: RegistryReader
  blocks: Blocks
  outbox: Anchorings & AnchorBlocks
  batcher: Pick<Batcher, 'wake'>
  /** Receives the intents whose blocks are final. */
  final: (some: readonly Anchored[]) => void
  /** @returns The milliseconds between slow blocks; `undefined` for others. See `BlockTime`. */
  interval: () => number | undefined
  /** Nothing leaves the outbox before this resolves, because its payloads may still be needed. */
  after: Promise<unknown>
  log: Log
}): () => Promise<void> {
  const { blocks, outbox, log } = deps
  const stop = new AbortController()
  const watch = createBlockWatch({ blocks, outbox, signal: stop.signal })
  const { review, reset } = createReviewing(deps)
  let newest = -1
  let quietSince = performance.now()

  async function poll(): Promise<void> {
    if (await watch.isIdle()) return reset()
    const finalized = await finalizedBlock()
    await inChunks(
      () => outbox.anchoredUpTo(finalized, MAX_INTENTS),
      (some) => review(some, finalized),
    )
    await watch.poll((block, hash) => {
      const seen = { blockNumber: block.blockNumber, blockHash: hash ?? UNSEEN }
      return inChunks(
        () => outbox.anchoredIn(block, MAX_INTENTS),
        (some) => review(some, finalized, seen),
      )
    })
    const { blockNumber = -1 } = (await outbox.newestSeen()) ?? {}
    if (blockNumber !== newest) quietSince = performance.now()
    newest = blockNumber
  }

  function pause(): number {
    const interval = deps.interval()
    if (interval === undefined) return POLL_INTERVAL_MS
    const quiet = QUIET.part * (performance.now() - quietSince)
    return Math.max(POLL_INTERVAL_MS, interval, Math.min(quiet, QUIET.maxMs))
  }

  /**
   * When the finalized block is unknown, nothing leaves the outbox, but reorgs are still detected.
   */
  async function finalizedBlock(): Promise<number> {
    try {
      return await blocks.finalizedBlock()
    } catch (error) {
      log.warn('finality_unknown', { error: String(error) })
      return 0
    }
  }

  /** @param work Returns whether it moved all intents. If not, the rest wait for the next poll. */
  async function inChunks(
    next: () => Promise<Anchored[]>,
    work: (some: readonly Anchored[]) => Promise<boolean>,
  ): Promise<void> {
    while (!stop.signal.aborted) {
      const some = await next()
      if (some.length === 0 || !(await work(some))) return
    }
  }

  async function run(): Promise<void> {
    await deps.after
    // The first poll waits, because other work comes first at the start.
    while (await sleep(pause(), true, { signal: stop.signal }).catch(() => false))
      await poll().catch((error) => log.warn('blocks_unread', { error: String(error) }))
  }

  const running = run()
  return async () => {
    stop.abort()
    await running
  }
}
