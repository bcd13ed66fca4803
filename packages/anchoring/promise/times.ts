import { type Action, type ActionKey, keyOfAction } from './action.ts'
import type { Anchored, Outcome } from './anchoring.ts'

/**
 * The maximum number of actions and of blocks that are remembered. The oldest are dropped, and not
 * measured.
 */
const MAX_REMEMBERED = 20_000

/**
 * Counts outcomes, and measures how long actions take to reach the chain and to become final there.
 * It works in memory only, so actions of an earlier process are not measured.
 */
export type Times = {
  /** Call this when a request is durable. */
  requested(action: Action): void
  /** Call this for every outcome that was read from the chain. */
  concluded(action: Action, outcome: Outcome): void
  /** Call this when the blocks of these actions are final. */
  final(some: readonly Anchored[]): void
}

export function createTimes(metrics: {
  /** Counts an outcome. */
  concluded: (kind: Action['kind'], outcome: Outcome['status']) => void
  /** These receive seconds. */
  included: (kind: Action['kind'], seconds: number) => void
  final: (kind: Action['kind'], seconds: number) => void
}): Times {
  const requestedAt = new Map<ActionKey, number>()
  /** When the first outcome of each block was read. */
  const seenAt = new Map<number, number>()

  return {
    requested(action) {
      const key = keyOfAction(action)
      if (!requestedAt.has(key)) remember(requestedAt, key)
    },
    concluded(action, outcome) {
      metrics.concluded(action.kind, outcome.status)
      if (outcome.status === 'absent') return
      const key = keyOfAction(action)
      const requested = requestedAt.get(key)
      requestedAt.delete(key)
      if (outcome.status !== 'anchored') return
      if (requested !== undefined) metrics.included(action.kind, secondsSince(requested))
      if (!seenAt.has(outcome.blockNumber)) remember(seenAt, outcome.blockNumber)
    },
    final(some) {
      for (const { action, anchoring } of some) {
        const seen = seenAt.get(anchoring.blockNumber)
        if (seen !== undefined) metrics.final(action.kind, secondsSince(seen))
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
