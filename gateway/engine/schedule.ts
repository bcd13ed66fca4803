import type { Intent } from '#promise/intent.ts'
import type { BlockTime } from './block-time.ts'
import { dueAt } from './gather.ts'
import type { InFlight } from './in-flight.ts'
import type { Queue } from './queue.ts'

/** Maximum transactions in flight; geth keeps 16 for an account that it does not know. */
const MAX_IN_FLIGHT = 10
/** Of these, the ones reserved for late arrivals: full batches leave them free. */
const LATE_LANES = 2
/** Maximum time between looks at the newest block while intents gather. */
const LOOK_INTERVAL_MS = 250

/** When queued intents get their transaction. */
export type Schedule = {
  /** Whether queued intents should get a transaction now. */
  isDue(): boolean
  /**
   * Milliseconds until they may become due, or until the next look at the newest block. Infinity
   * when only an event can make them due: a new intent, or a free lane.
   */
  untilDue(): number
}

export function createSchedule(deps: {
  queue: Queue
  inFlight: InFlight
  blockTime: BlockTime
  /** How many intents fill the next transaction. */
  batchLimit: () => number
  /** How long the last transaction took from signing to its outcome; milliseconds. */
  roundTrip: () => number
}): Schedule {
  const { queue, inFlight, blockTime, batchLimit, roundTrip } = deps

  /**
   * Milliseconds for which intents still gather.
   *
   * @param first The oldest intent that can go.
   */
  function gathering(first: Intent): number {
    const [oldest] = inFlight.plans()
    const load = {
      waitingSince: queue.queuedAt(first),
      gatheringSince: queue.gatheringSince,
      oldestMade: oldest && inFlight.sendingOf(oldest).made,
      roundTrip: roundTrip(),
    }
    return dueAt(load, blockTime) - performance.now()
  }

  const freeLanes = () => MAX_IN_FLIGHT - inFlight.plans().length

  return {
    isDue() {
      const [first] = queue.next(1)
      if (first === undefined) return false
      const lanes = freeLanes()
      const isFull = queue.size >= batchLimit()
      return (isFull && lanes > LATE_LANES) || (lanes > 0 && gathering(first) <= 0)
    },

    untilDue() {
      const [first] = queue.next(1)
      if (first === undefined || freeLanes() <= 0) return Number.POSITIVE_INFINITY
      return Math.max(1, Math.min(gathering(first), LOOK_INTERVAL_MS))
    },
  }
}
