import type { BlockTime } from './block-time.ts'
import type { InFlight } from './in-flight.ts'

/**
 * The maximum number of transactions in flight; geth keeps 16 for an account that it does not know.
 */
const MAX_IN_FLIGHT = 10
/** The number of these that are reserved for late arrivals. Full batches leave them free. */
const LATE_LANES = 2
/** The maximum time between reads of the newest block while actions gather. */
const LOOK_INTERVAL_MS = 250

/**
 * While a transaction is in flight, the next actions gather: with regular blocks for this part of
 * their interval, so that a block gets few transactions, and hardly an action misses its block;
 * otherwise for the last round trip, so that chain and gateway work at the same time.
 */
const GATHER = { interval: 1 / 8, maxRoundTripMs: 400 }
/**
 * Once the oldest transaction in flight is older than `fromMs`, or than regular blocks explain,
 * they gather for this fraction of its age, so that lanes stay free however long it takes.
 */
const SLOW = { fromMs: 800, intervals: 1.25, part: 0.5 }

/** Decides when queued actions get their transaction. */
export type Schedule = {
  /** @returns Whether queued actions should get a transaction now. */
  isDue(): boolean
  /**
   * @returns The milliseconds until they may become due, or until the next read of the newest
   * block; Infinity when only an event can make them due, such as a new action or a free lane.
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
  inFlight: () => Pick<InFlight, 'sends' | 'sendingOf' | 'roundTrip'>
  blockTime: Pick<BlockTime, 'interval'>
  /** @returns The number of actions that fill the next transaction. */
  batchLimit: () => number
}): Schedule {
  const { arrivals, blockTime, batchLimit } = deps

  /** @returns The milliseconds for which actions still gather. */
  function gathering(): number {
    const inFlight = deps.inFlight()
    const [oldest] = inFlight.sends()
    const load = {
      gatheringSince: arrivals.gatheringSince,
      oldestMade: oldest && inFlight.sendingOf(oldest).made,
      roundTrip: inFlight.roundTrip(),
    }
    return dueAt(load, blockTime.interval()) - performance.now()
  }

  const freeLanes = () => MAX_IN_FLIGHT - deps.inFlight().sends().length

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
  /**
   * When the first waiting action arrived, or the last transaction was signed, as
   * `performance.now()`.
   */
  gatheringSince: number
  /** When the oldest transaction in flight was signed; `undefined` when none is in flight. */
  oldestMade: number | undefined
  /** The milliseconds that the last transaction took until the chain showed it. */
  roundTrip: number
}

/**
 * @param interval The milliseconds between regular blocks.
 * @returns When waiting actions get a transaction, full or not.
 */
export function dueAt(load: Load, interval: number | undefined): number {
  const { gatheringSince, oldestMade, roundTrip } = load
  if (oldestMade === undefined) return gatheringSince
  const age = performance.now() - oldestMade
  const slowFrom = interval === undefined ? SLOW.fromMs : SLOW.intervals * interval
  const slow = age < slowFrom ? 0 : SLOW.part * age
  const soon =
    interval === undefined ? Math.min(GATHER.maxRoundTripMs, roundTrip) : GATHER.interval * interval
  return gatheringSince + Math.max(soon, slow)
}
