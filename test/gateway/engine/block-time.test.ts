import { beforeEach, describe, expect, test } from 'vitest'
import { type BlockTime, createBlockTime } from '#engine/block-time.ts'
import { dueAt } from '#engine/schedule.ts'
import type { Head } from '#promise/ports.ts'

// A clock that the tests control. Wall clock and monotonic clock differ by an arbitrary offset.

const SKEW = 987_654_321
let now: number
let head: Head
let blockTime: BlockTime
/** Reads of the newest block. */
let reads: number
let isAway: boolean
beforeEach(() => {
  reads = 0
  isAway = false
  now = 1_000_000
  head = { number: 100, timestamp: secondsAt(now) }
  blockTime = createBlockTime(
    {
      head: async () => {
        reads++
        if (isAway) throw new Error('away')
        return head
      },
      block: async () => {
        throw new Error('pruned')
      },
    },
    () => now,
  )
})

function secondsAt(time: number): number {
  return Math.floor((time + SKEW) / 1000)
}

/** Looks every quarter of a second until a time, as the gateway does. */
async function lookUntil(end: number, mined: readonly number[]): Promise<void> {
  for (; now < end; now += 250) {
    for (const time of mined)
      if (time <= now && time > now - 250)
        head = { number: head.number + 1, timestamp: secondsAt(time) }
    blockTime.look()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const every = (interval: number, count: number, from = now): number[] =>
  Array.from({ length: count }, (_, i) => from + (i + 1) * interval)

const lastOf = (times: readonly number[]) => times.at(-1) ?? NaN

/** The error of the prediction for the block after `now`. */
const error = (expected: number) => (blockTime.nextAfter(now) ?? NaN) - expected

describe('a block every 12 seconds', () => {
  test('default: is known once a transaction has waited for one', async () => {
    const mined = every(12_000, 5)
    await lookUntil(lastOf(mined) + 1_000, mined)
    expect(blockTime.nextAfter(now)).toBeUndefined()
    blockTime.included(now - 11_000)
    expect(blockTime.interval()).toBe(12_000)
    expect(Math.abs(error(lastOf(mined) + 12_000))).toBeLessThanOrEqual(1_000)
  })

  test('behavior: is known after an idle hour, without a look', async () => {
    const mined = every(12_000, 5)
    await lookUntil(lastOf(mined) + 1_000, mined)
    blockTime.included(now - 11_000)
    now += 3_600_000
    const last = lastOf(mined) + 3_600_000
    head = { number: head.number + 300, timestamp: secondsAt(last) }
    expect(blockTime.nextAfter(now)).toBeUndefined()
    blockTime.look()
    await new Promise((resolve) => setImmediate(resolve))
    expect(Math.abs(error(last + 12_000))).toBeLessThanOrEqual(1_000)
  })

  test('behavior: stays known when a slot has no block', async () => {
    const start = now
    const mined = [1, 2, 3, 5, 6].map((slot) => start + slot * 12_000)
    await lookUntil(start + 73_000, mined)
    blockTime.included(now - 11_000)
    expect(blockTime.interval()).toBe(12_000)
    expect(Math.abs(error(start + 84_000))).toBeLessThanOrEqual(1_000)
  })

  test('behavior: expects nothing after several slots without a block', async () => {
    const mined = every(12_000, 5)
    await lookUntil(lastOf(mined) + 1_000, mined)
    blockTime.included(now - 11_000)
    await lookUntil(lastOf(mined) + 30_000, mined)
    expect(blockTime.nextAfter(now)).toBeUndefined()
  })
})

describe('the lead of a transaction before a block', () => {
  const mined: number[] = []
  beforeEach(async () => {
    mined.splice(0, mined.length, ...every(12_000, 5))
    await lookUntil(lastOf(mined) + 500, mined)
    blockTime.included(now - 11_000)
  })
  /** A transaction made this long before the last block, and included in it or in the next one. */
  const included = (before: number, late: boolean) => {
    const made = lastOf(mined) - before
    now = lastOf(mined) + (late ? 12_250 : 250)
    blockTime.included(made)
  }

  test('default: grows beyond that of a transaction that came too late', () => {
    included(2_000, true)
    expect(blockTime.lead()).toBeGreaterThan(2_000)
    expect(blockTime.lead()).toBeLessThan(4_000)
  })

  test('behavior: shrinks a little with each that came in time', () => {
    const before = blockTime.lead()
    for (let i = 0; i < 10; i++) included(2_000, false)
    expect(blockTime.lead()).toBeLessThan(before)
    for (let i = 0; i < 100; i++) included(2_000, false)
    expect(blockTime.lead()).toBeGreaterThan(400)
  })

  test('behavior: ignores transactions that were made early', () => {
    const before = blockTime.lead()
    included(8_000, true)
    expect(blockTime.lead()).toBe(before)
  })
})

describe('no block interval is assumed', () => {
  test('behavior: for blocks that follow transactions, however regular these are', async () => {
    const mined = every(10_000, 6)
    await lookUntil(lastOf(mined) + 1_000, mined)
    for (let i = 0; i < 6; i++) blockTime.included(now - 60)
    expect(blockTime.nextAfter(now)).toBeUndefined()
  })

  test('behavior: for blocks at irregular times', async () => {
    const start = now
    const mined = [7, 31, 38, 77, 80, 104].map((time) => start + time * 1_000)
    await lookUntil(start + 105_000, mined)
    blockTime.included(now - 20_000)
    expect(blockTime.interval()).toBeUndefined()
    expect(blockTime.nextAfter(now)).toBeUndefined()
  })

  test('behavior: for blocks faster than two seconds', async () => {
    const mined = every(250, 200)
    await lookUntil(lastOf(mined), mined)
    blockTime.included(now - 300)
    expect(blockTime.nextAfter(now)).toBeUndefined()
  })

  test('behavior: for a chain that went back', async () => {
    const mined = every(12_000, 5)
    await lookUntil(lastOf(mined) + 1_000, mined)
    blockTime.included(now - 11_000)
    head = { number: 90, timestamp: secondsAt(now) }
    await lookUntil(now + 13_000, [])
    expect(blockTime.nextAfter(now)).toBeUndefined()
  })
})

describe('reads of the newest block', () => {
  test('default: are a few for each block, once these come by themselves', async () => {
    const mined = every(12_000, 25)
    await lookUntil(mined[4] ?? NaN, mined)
    blockTime.included(now - 11_000)
    reads = 0
    await lookUntil(lastOf(mined), mined)
    expect(reads).toBeLessThanOrEqual(4 * 20)
    expect(blockTime.newest()).toBe(124)
    expect(Math.abs(error(lastOf(mined) + 12_000))).toBeLessThanOrEqual(1_000)
  })

  test('behavior: the blocks before the first one show the interval at once', async () => {
    now = Date.now()
    head = { number: 100, timestamp: Math.floor(now / 1000) - 3 }
    const block = async (number: number) => ({
      number,
      timestamp: head.timestamp - 12 * (100 - number),
    })
    blockTime = createBlockTime({ head: async () => head, block }, () => now)
    await blockTime.look()
    expect(blockTime.interval()).toBe(12_000)
    expect(blockTime.newest()).toBe(100)
    expect(blockTime.nextAfter(now)).toBeUndefined()
  })

  test('error: while the node does not answer, no block is the newest', async () => {
    const mined = every(12_000, 10)
    await lookUntil(mined[4] ?? NaN, mined)
    blockTime.included(now - 11_000)
    isAway = true
    await lookUntil(mined[5] ?? NaN, mined)
    expect(blockTime.newest()).toBeUndefined()
    isAway = false
    await lookUntil(mined[7] ?? NaN, mined)
    expect(blockTime.newest()).toBe(107)
  })
})

describe('when intents get a transaction', () => {
  const BLOCK = 50_000
  const twelve: BlockTime = {
    interval: () => 12_000,
    nextAfter: (time) => BLOCK + Math.ceil((time + 1 - BLOCK) / 12_000) * 12_000,
    lead: () => 1_000,
    async look() {},
    included() {},
    newest: () => undefined,
  }
  const unknown: BlockTime = { ...twelve, nextAfter: () => undefined }
  const load = (waitingSince: number) => ({
    waitingSince,
    gatheringSince: waitingSince,
    oldestMade: undefined,
    roundTrip: 12_000,
  })

  test.each([
    ['early', 1_000, 10_160],
    ['late', 10_500, 11_000],
    ['too late', 11_500, 22_160],
  ])('default: plans for a block when an intent comes %s in its slot', (_, at, due) => {
    expect(dueAt(load(BLOCK + at), twelve)).toBeCloseTo(BLOCK + due)
  })

  /**
   * How long requests wait until they are seen in a block, at a rate of arrivals, in milliseconds;
   * and the transactions.
   */
  function simulate(perSecond: number, slots: number) {
    const arrivals = Array.from(
      { length: perSecond * 12 * slots },
      (_, i) => BLOCK + (i * 1000) / perSecond + 1,
    )
    const waits: number[] = []
    const sent = new Set<number>()
    for (const at of arrivals) {
      const due = dueAt(load(at), twelve)
      sent.add(Math.round(due))
      // A transaction sent just before a block is included; a look may be a quarter of a second
      // late.
      const seen = (twelve.nextAfter(due) ?? NaN) + 250
      waits.push(seen - at)
    }
    return { waits, perSlot: sent.size / slots }
  }

  test.each([5, 60])(
    'behavior: at %i a second, all are in a block within 14 seconds, with two partial transactions a block',
    (perSecond) => {
      const { waits, perSlot } = simulate(perSecond, 20)
      expect(Math.max(...waits)).toBeLessThan(14_000)
      expect(perSlot).toBeLessThanOrEqual(2.1)
    },
  )

  test('behavior: without an interval, a single intent goes at once', () => {
    expect(dueAt(load(7), unknown)).toBe(7)
  })

  test('behavior: without an interval, a slow chain never has all lanes taken in 12 seconds', () => {
    const start = performance.now()
    let [time, lanes] = [0, 1]
    for (; time < 12_000; lanes++) {
      const due = dueAt(
        {
          waitingSince: start,
          gatheringSince: start,
          oldestMade: start - time,
          roundTrip: 12_000,
        },
        unknown,
      )
      time += Math.max(due - start, 1)
    }
    expect(lanes).toBeLessThanOrEqual(10)
  })
})
