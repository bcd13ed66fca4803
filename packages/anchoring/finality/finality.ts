import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '#base/log.ts'
import { type Anchored, type BlockId, UNSEEN } from '#promise/anchoring.ts'
import { outcomesOf } from '#promise/outcome.ts'
import type { Blocks, Leader, RegistryReader, SentBlocks } from '#promise/ports.ts'
import { createBlockWatch } from './block-watch.ts'

const POLL_INTERVAL_MS = 2_000
/**
 * With slow blocks, a poll is at most once a block, and ever rarer while nothing is in flight: this
 * fraction of the time since a block with sends was last new. Finality takes minutes there. When
 * the chain did not have a block, the next poll comes soon: until it is decided, what is in flight
 * behind it may wait for a nonce.
 */
const QUIET = { part: 1 / 3, maxMs: 80_000 }
/** The maximum number of blocks for one read. */
const MAX_BLOCKS = 200

/**
 * Watches the blocks of sends until they are final.
 *
 * A poll costs one call for each new block, one for each block that has become final, and one for
 * the newest known block, however much the sends carry: a block with an unchanged hash still has its
 * transactions, and so do the blocks before it. When the chain has another block at its height at
 * two polls, the sends of this issuer's accounts are in flight again with their bytes, and what
 * others have sent is read anew.
 *
 * @returns A function that stops it.
 */
export function watchFinality(deps: {
  registry: RegistryReader
  blocks: Blocks
  outbox: SentBlocks
  leader: Pick<Leader, 'wake' | 'resume'>
  /** @returns The number of transactions in flight. */
  inFlight: () => number
  /** Receives what is in blocks that have become final. */
  final: (some: readonly Anchored[]) => void
  /** @returns The milliseconds between slow blocks; `undefined` for others. See `BlockTime`. */
  interval: () => number | undefined
  log: Log
}): () => Promise<void> {
  const { registry, blocks, outbox, leader, log } = deps
  const stop = new AbortController()
  const watch = createBlockWatch({ blocks, outbox, signal: stop.signal })
  let newest = -1
  let quietSince = performance.now()
  let polledAt = performance.now()
  let misses = false

  async function poll(): Promise<void> {
    polledAt = performance.now()
    if (await watch.isIdle()) return
    const finalized = await finalizedBlock()
    while (!stop.signal.aborted && (await finishSome(finalized))) {}
    misses = await watch.poll(replaced)
    const [{ blockNumber = -1 } = {}] = await outbox.newestSeen(1)
    if (blockNumber !== newest) quietSince = performance.now()
    newest = blockNumber
  }

  function isDue(): boolean {
    const interval = deps.interval()
    if (interval === undefined || misses) return true
    const quiet = deps.inFlight() > 0 ? 0 : QUIET.part * (performance.now() - quietSince)
    return performance.now() - polledAt >= Math.max(interval, Math.min(quiet, QUIET.maxMs))
  }

  /** When the finalized block is unknown, nothing becomes final, but reorgs are still detected. */
  async function finalizedBlock(): Promise<number> {
    try {
      return await blocks.finalizedBlock()
    } catch (error) {
      log.warn('finality_unknown', { error: String(error) })
      return 0
    }
  }

  /** @returns Whether there may be more. A block that the chain does not have waits for the watch. */
  async function finishSome(finalized: number): Promise<boolean> {
    const some = await outbox.upTo(finalized, MAX_BLOCKS)
    let finished = 0
    for (const block of some) {
      if (stop.signal.aborted) return false
      const hash = await blocks.blockHash(block.blockNumber)
      // No node has the events of a block whose hash is unknown, so it was final long ago.
      if (block.blockHash !== UNSEEN && hash !== block.blockHash) continue
      deps.final(await outbox.finish(block))
      finished++
    }
    return finished > 0 && some.length === MAX_BLOCKS
  }

  async function replaced(gone: readonly BlockId[]): Promise<void> {
    const lost = await outbox.lose(gone)
    if (lost > 0) {
      log.info('sends_in_flight_again', { sends: lost, blocks: gone.length })
      await leader.resume()
    }
    for (const block of gone) await readAnew(block)
  }

  /** Reads where the members of sends are that no account of this database made. */
  async function readAnew(block: BlockId): Promise<void> {
    const others = await outbox.ofOthers(block)
    if (others.length === 0) return
    // If no node still has its block, a later change came after it.
    const isForgotten = (await blocks.blockHash(block.blockNumber)) === null
    const head = isForgotten ? block.blockNumber : undefined
    for (const { id, members } of others) {
      const actions = members.map(({ action }) => action)
      const heads = actions.map(() => head)
      await outbox.move(id, members, await outcomesOf(registry, actions, heads))
      leader.wake()
    }
  }

  async function run(): Promise<void> {
    // The first poll waits, because other work comes first at the start.
    while (await sleep(POLL_INTERVAL_MS, true, { signal: stop.signal }).catch(() => false))
      if (isDue())
        await poll().catch((error) => log.warn('blocks_unread', { error: String(error) }))
  }

  const running = run()
  return async () => {
    stop.abort()
    await running
  }
}
