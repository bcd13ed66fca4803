import type { BlockTime } from './block-time.ts'

/**
 * Without regular blocks: how long intents gather behind a transaction in flight, as a fraction of
 * the last round trip, so that chain and gateway work at the same time; and the maximum.
 */
const GATHER = { part: 0.5, maxMs: 400 }
/**
 * The same once the oldest transaction in flight is older than `fromMs`, as a fraction of its age:
 * so lanes stay free however long it takes.
 */
const SLOW = { fromMs: 800, part: 0.5 }
/**
 * With regular blocks, there are two cutoffs before each: one for the gathered intents, this
 * fraction of the interval early, and one for late arrivals, just in time.
 */
const MARGIN = 0.07

export type Load = {
  /** When the first waiting intent arrived; `performance.now()`. */
  waitingSince: number
  /** When the first waiting intent arrived, or the last transaction was signed. */
  gatheringSince: number
  /** When the oldest transaction in flight was signed; `undefined` when none is in flight. */
  oldestMade: number | undefined
  /** Milliseconds that the last transaction took until the chain showed it. */
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
