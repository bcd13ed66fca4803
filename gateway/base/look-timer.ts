/**
 * The time between looks at transactions in flight, as a fraction of the age of the oldest, with
 * its limits. So the delay in noticing a block is a small part of the time that the block took.
 */
const LOOK = { part: 1 / 8, minMs: 2, maxMs: 250 }
/** How long to wait for the first look at a plan whose broadcast no node has answered. */
const UNANSWERED_MS = 50

/**
 * Decides when to look at the chain again, which is less and less often until something changes.
 */
export type LookTimer = {
  isDue(): boolean
  /** @returns The milliseconds until the next look is due. */
  left(): number
  /** Call this when a node has answered a broadcast, because a look is then due. */
  answered(): void
  /**
   * Call this when a plan was made.
   *
   * @param isOnly Whether no other plan is in flight.
   */
  planned(isOnly: boolean): void
  /**
   * @param oldestMade When the oldest plan that is still in flight was signed; `undefined` = none
   * is.
   */
  looked(oldestMade: number | undefined): void
}

/** All times are those of `now`, in milliseconds. */
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
