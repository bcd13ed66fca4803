/** How long a clock must run evenly after a jump before it is trusted again. */
const HOLD_MS = 3_600_000
/** How much the clock may gain or lose between two readings without counting as a jump. */
const TOLERANCE_MS = 60_000

/**
 * The only clock of the gateway, in milliseconds of the Unix epoch. Whoever deletes, spends,
 * retries or rotates asks `now`; whoever shows a time or ends a right asks `wall`. Two readers of
 * one moment ask the same: otherwise one says that a secret is over while the other signs with it.
 */
export type Clock = {
  /**
   * The time without jumps. After a jump forward it goes on for an hour as if there had been none;
   * a jump back is followed at once.
   */
  now(): number
  /** The time that the machine says, which anybody may set. */
  wall(): number
  /** Whether the clock has run evenly for an hour; `false` in the first hour of a process. */
  isSettled(): boolean
}

/**
 * @param wall Milliseconds of the Unix epoch.
 * @param elapsed Milliseconds since the process started, which no change of the clock affects.
 */
export function createClock(
  wall: () => number = () => Date.now(),
  elapsed: () => number = () => performance.now(),
): Clock {
  /** When the process started, according to the trusted clock. */
  let believed = wall() - elapsed()
  let doubted: { began: number; since: number } | undefined

  function read(): number {
    const began = wall() - elapsed()
    const holds = (other: number) => Math.abs(began - other) <= TOLERANCE_MS
    if (doubted && !holds(doubted.began)) doubted = undefined
    if (!holds(believed)) doubted ??= { began, since: elapsed() }
    if (holds(believed) || (doubted && elapsed() - doubted.since >= HOLD_MS)) {
      believed = began
      doubted = undefined
    }
    return began
  }

  return {
    wall,
    now: () => Math.round(Math.min(read(), believed) + elapsed()),
    isSettled() {
      read()
      return doubted === undefined && elapsed() >= HOLD_MS
    },
  }
}

/** The clock of this process. */
export const clock = createClock()

/**
 * The time by which something may be deleted: the earlier of the clock and the newest block. Both
 * can be wrong, but hardly at the same time. On a local chain they are the same, so the clock must
 * also have run evenly.
 *
 * @returns `undefined` while it is not certain. Rejects when the chain cannot be read.
 */
export type CertainTime = () => Promise<number | undefined>

/** @param head The newest block, with its timestamp in seconds. */
export function createCertainTime(
  head: () => Promise<{ timestamp: number }>,
  clock: Clock,
): CertainTime {
  return async () => {
    if (!clock.isSettled()) return undefined
    const { timestamp } = await head()
    return Math.min(clock.now(), timestamp * 1000)
  }
}
