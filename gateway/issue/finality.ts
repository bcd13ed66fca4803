import { setTimeout as sleep } from 'node:timers/promises'
import type { Batcher } from './batcher.ts'
import { blocksOf } from './outcome.ts'
import type { Outbox, Registry } from './ports.ts'

const PERIOD = 2_000

/**
 * Lets intents leave the outbox when their block is final, and has those anchored again that a reorg dropped before.
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

  async function look(): Promise<void> {
    const rows = outbox.notFinal()
    if (rows.length === 0) return
    const finalized = await registry.finalizedBlock()
    const intents = rows.map(({ intent }) => intent)
    const blocks = await blocksOf(registry, intents)
    const dropped = intents.filter((_, i) => blocks[i] === 'absent')
    const done = intents.filter((_, i) => {
      const block = blocks[i]
      return typeof block === 'number' ? block <= finalized : block === 'taken'
    })
    await outbox.remove(done)
    const taken = blocks.filter((block) => block === 'taken').length
    if (taken > 0)
      log('lost to another issuer after a reorg', { intents: taken })
    if (dropped.length === 0) return
    log('dropped by a reorg, again', { intents: dropped.length })
    await outbox.requeue(dropped)
    batcher.enqueue(dropped)
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      await look().catch((error) =>
        log('finality not read', { error: String(error) }),
      )
      await sleep(PERIOD, undefined, { signal: stop.signal }).catch(() => {})
    }
  }

  const running = run()
  return async () => {
    stop.abort()
    await running
  }
}
