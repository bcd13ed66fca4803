import type { Intent } from '#promise/intent.ts'
import type { BlockTime } from './block-time.ts'
import type { InFlight } from './in-flight.ts'
import type { Queue } from './queue.ts'

/**
 * The maximum number of transactions in flight; geth keeps 16 for an account that it does not know.
 */
const MAX_IN_FLIGHT = 10
/** The number of these that are reserved for late arrivals. Full batches leave them free. */
const LATE_LANES = 2
/** The maximum time between reads of the newest block while intents gather. */
const LOOK_INTERVAL_MS = 250

/**
 * Without regular blocks: how long intents gather while a transaction is in flight, as a fraction
 * of the last round trip, so that chain and gateway work at the same time; and the maximum.
 */
const GATHER = { part: 1, maxMs: 400 }
/**
 * The same once the oldest transaction in flight is older than `fromMs`, as a fraction of its age,
 * so that lanes stay free however long it takes.
 */
const SLOW = { fromMs: 800, part: 0.5 }
/**
 * With regular blocks, there are two cutoffs before each: one for the gathered intents, this
 * fraction of the interval early, and one for late arrivals, just in time.
 */
const MARGIN = 0.07

/** Decides when queued intents get their transaction. */
export type Schedule = {
  /** @returns Whether queued intents should get a transaction now. */
  isDue(): boolean
  /**
   * @returns The milliseconds until they may become due, or until the next read of the newest
   * block; Infinity when only an event can make them due, such as a new intent or a free lane.
   */
  untilDue(): number
}

export function createSchedule(deps: {
  queue: Queue
  inFlight: InFlight
  blockTime: BlockTime
  /** @returns The number of intents that fill the next transaction. */
  batchLimit: () => number
}): Schedule {
  const { queue, inFlight, blockTime, batchLimit } = deps

  /**
   * @returns The milliseconds for which intents still gather.
   *
   * @param first The oldest intent that can go.
   */
  function gathering(first: Intent): number {
    const [oldest] = inFlight.plans()
    const load = {
      waitingSince: queue.queuedAt(first),
      gatheringSince: queue.gatheringSince,
      oldestMade: oldest && inFlight.sendingOf(oldest).made,
      roundTrip: inFlight.roundTrip(),
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

type Load = {
  /** When the first waiting intent arrived, as `performance.now()`. */
  waitingSince: number
  /** When the first waiting intent arrived, or the last transaction was signed. */
  gatheringSince: number
  /** When the oldest transaction in flight was signed; `undefined` when none is in flight. */
  oldestMade: number | undefined
  /** The milliseconds that the last transaction took until the chain showed it. */
  roundTrip: number
}

/** @returns When waiting intents get a transaction, full or not. */
export function dueAt(load: Load, blockTime: BlockTime): number {
  const cutoff = cutoffAfter(load.waitingSince, blockTime)
  if (cutoff !== undefined) return cutoff
  const { gatheringSince, oldestMade, roundTrip } = load
  if (oldestMade === undefined) return gatheringSince
  const soon = Math.min(GATHER.maxMs, GATHER.part * roundTrip)
  const age = performance.now() - oldestMade
  const slow = age < SLOW.fromMs ? 0 : SLOW.part * age
  return gatheringSince + Math.max(soon, slow)
}

function cutoffAfter(time: number, blockTime: BlockTime): number | undefined {
  const block = blockTime.nextAfter(time)
  const interval = blockTime.interval()
  if (block === undefined || interval === undefined) return undefined
  const last = block - blockTime.lead()
  const first = last - MARGIN * interval
  if (first > time) return first
  return last > time ? last : first + interval
}
