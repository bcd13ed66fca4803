import type { BlockTime } from './block-time.ts'

/**
 * Where blocks come when they like: how long intents gather behind a transaction in flight before they get one of their own, as a
 * part of the time that one takes, so that chain and gateway work at the same time; and at most.
 */
const GATHER = { part: 0.5, maxMs: 400 }
/** The same once the oldest in flight is older than this, as a part of its age: so there is still room for one when it is long. */
const SLOW = { fromMs: 800, part: 0.5 }
/**
 * Where blocks come at regular times, transactions are made twice before each: what has gathered, this part of the interval earlier
 * than it has to be; and late arrivals, just in time.
 */
const MARGIN = 0.07

export type Load = {
  /** When the first of those that wait came; `performance.now()`. */
  waitingSince: number
  /** When the first of those that wait came, or the last transaction was made. */
  gatheringSince: number
  /** When the oldest transaction in flight was made; `undefined` when none is. */
  oldestMade: number | undefined
  /** Milliseconds that the last transaction took until the chain showed it. */
  roundTrip: number
}

/** @returns When intents that wait get a transaction, whether or not they fill one. */
export function dueAt(load: Load, blockTime: BlockTime): number {
  const towards = cutoffAfter(load.waitingSince, blockTime)
  if (towards !== undefined) return towards
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
