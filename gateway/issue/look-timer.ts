/** Between looks at transactions in flight. */
const POLL = { firstMs: 2, maxMs: 250 }
/** The same until a node has answered the newest broadcast. */
const POLL_UNANSWERED_MS = 50

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
  /** @param isProgress Whether the look settled a plan. */
  looked(isProgress: boolean): void
}

export function createLookTimer(): LookTimer {
  let interval = 0
  let nextAt = 0

  return {
    isDue: () => performance.now() >= nextAt,
    left: () => Math.max(0, nextAt - performance.now()),
    answered() {
      nextAt = 0
    },
    planned(isOnly) {
      interval = 0
      const soon = performance.now() + POLL_UNANSWERED_MS
      nextAt = isOnly ? soon : Math.min(nextAt, soon)
    },
    looked(isProgress) {
      const doubled = isProgress ? 0 : interval * 2
      interval = Math.min(Math.max(doubled, POLL.firstMs), POLL.maxMs)
      nextAt = performance.now() + interval
    },
  }
}
