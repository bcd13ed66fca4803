/**
 * Time between looks at transactions in flight, as a fraction of the age of the oldest, and its
 * bounds: a block is seen late by a small part of the time that it took to come.
 */
const LOOK = { part: 1 / 8, minMs: 2, maxMs: 250 }
/** Until the first look at a plan whose broadcast no node has answered. */
const UNANSWERED_MS = 50

/** When to look at the chain again: less and less often until something changes. */
export type LookTimer = {
  isDue(): boolean
  /** Milliseconds until the next look is due. */
  left(): number
  /** A node has answered a broadcast: a look is due. */
  answered(): void
  /**
   * A plan was made.
   *
   * @param isOnly Whether no other is in flight.
   */
  planned(isOnly: boolean): void
  /** @param oldestMade When the oldest plan that is still in flight was signed, if any is. */
  looked(oldestMade: number | undefined): void
}

/** Times are those of `now`, in milliseconds. */
export function createLookTimer(now: () => number = () => performance.now()): LookTimer {
  let nextAt = 0

  return {
    isDue: () => now() >= nextAt,
    left: () => Math.max(0, nextAt - now()),
    answered() {
      nextAt = 0
    },
    planned(isOnly) {
      const soon = now() + UNANSWERED_MS
      nextAt = isOnly ? soon : Math.min(nextAt, soon)
    },
    looked(oldestMade = now()) {
      const interval = LOOK.part * (now() - oldestMade)
      nextAt = now() + Math.min(Math.max(interval, LOOK.minMs), LOOK.maxMs)
    },
  }
}
