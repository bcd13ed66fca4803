import type { Anchored, Outcome } from './anchoring.ts'
import { type Intent, type IntentKey, keyOfIntent } from './intent.ts'

/**
 * The maximum number of intents and of blocks that are remembered. The oldest are dropped, and not
 * measured.
 */
const MAX_REMEMBERED = 20_000

/**
 * Counts outcomes, and measures how long intents take to reach the chain and to become final there.
 * It works in memory only, so intents of an earlier process are not measured.
 */
export type Times = {
  /** Call this when a request is durable. */
  requested(intent: Intent): void
  /** Call this for every outcome that was read from the chain. */
  concluded(intent: Intent, outcome: Outcome): void
  /** Call this when the blocks of these intents are final. */
  final(some: readonly Anchored[]): void
}

export function createTimes(metrics: {
  /** Counts an outcome. */
  concluded: (kind: Intent['kind'], outcome: Outcome['status']) => void
  /** These receive seconds. */
  included: (kind: Intent['kind'], seconds: number) => void
  final: (kind: Intent['kind'], seconds: number) => void
}): Times {
  const requestedAt = new Map<IntentKey, number>()
  /** When the first outcome of each block was read. */
  const seenAt = new Map<number, number>()

  return {
    requested(intent) {
      const key = keyOfIntent(intent)
      if (!requestedAt.has(key)) remember(requestedAt, key)
    },
    concluded(intent, outcome) {
      metrics.concluded(intent.kind, outcome.status)
      if (outcome.status === 'absent') return
      const key = keyOfIntent(intent)
      const requested = requestedAt.get(key)
      requestedAt.delete(key)
      if (outcome.status !== 'anchored') return
      if (requested !== undefined) metrics.included(intent.kind, secondsSince(requested))
      if (!seenAt.has(outcome.blockNumber)) remember(seenAt, outcome.blockNumber)
    },
    final(some) {
      for (const { intent, anchoring } of some) {
        const seen = seenAt.get(anchoring.blockNumber)
        if (seen !== undefined) metrics.final(intent.kind, secondsSince(seen))
      }
    },
  }
}

function remember<K>(times: Map<K, number>, key: K): void {
  times.set(key, performance.now())
  const [oldest] = times.keys()
  if (times.size > MAX_REMEMBERED && oldest !== undefined) times.delete(oldest)
}

const secondsSince = (time: number) => (performance.now() - time) / 1000
