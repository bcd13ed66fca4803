import type { BlockTime } from './block-time.ts'
import type { InFlight } from './in-flight.ts'

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

/**
 * What is known to wait in the database. It is a hint: a look each second finds what it missed.
 * Times are those of `performance.now()`.
 */
export type Arrivals = {
  /** How many may wait. */
  count: number
  /** When the first of them arrived. */
  since: number
  /** When the first of them arrived, or the last transaction was made. */
  gatheringSince: number
}

export function createSchedule(deps: {
  arrivals: Arrivals
  /** The transactions in flight of the account that gets the next one. */
  inFlight: () => Pick<InFlight, 'plans' | 'sendingOf' | 'roundTrip'>
  blockTime: BlockTime
  /** @returns The number of intents that fill the next transaction. */
  batchLimit: () => number
}): Schedule {
  const { arrivals, blockTime, batchLimit } = deps

  /** @returns The milliseconds for which intents still gather. */
  function gathering(): number {
    const inFlight = deps.inFlight()
    const [oldest] = inFlight.plans()
    const load = {
      waitingSince: arrivals.since,
      gatheringSince: arrivals.gatheringSince,
      oldestMade: oldest && inFlight.sendingOf(oldest).made,
      roundTrip: inFlight.roundTrip(),
    }
    return dueAt(load, blockTime) - performance.now()
  }

  const freeLanes = () => MAX_IN_FLIGHT - deps.inFlight().plans().length

  return {
    isDue() {
      if (arrivals.count === 0) return false
      const lanes = freeLanes()
      const isFull = arrivals.count >= batchLimit()
      return (isFull && lanes > LATE_LANES) || (lanes > 0 && gathering() <= 0)
    },

    untilDue() {
      if (arrivals.count === 0 || freeLanes() <= 0) return Number.POSITIVE_INFINITY
      return Math.max(1, Math.min(gathering(), LOOK_INTERVAL_MS))
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
