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

describe('a block every 12 seconds', () => {
  test('is known once a transaction has waited for one', async () => {
    const mined = every(12_000, 5)
    await lookUntil(lastOf(mined) + 1_000, mined)
    expect(blockTime.newest()).toBeUndefined()
    blockTime.included(now - 11_000)
    expect(blockTime.interval()).toBe(12_000)
  })

  test('is known after an idle hour, without a read', async () => {
    const mined = every(12_000, 5)
    await lookUntil(lastOf(mined) + 1_000, mined)
    blockTime.included(now - 11_000)
    now += 3_600_000
    const last = lastOf(mined) + 3_600_000
    head = { number: head.number + 300, timestamp: secondsAt(last) }
    blockTime.look()
    await new Promise((resolve) => setImmediate(resolve))
  })

  test('stays known when a slot has no block', async () => {
    const start = now
    const mined = [1, 2, 3, 5, 6].map((slot) => start + slot * 12_000)
    await lookUntil(start + 73_000, mined)
    blockTime.included(now - 11_000)
    expect(blockTime.interval()).toBe(12_000)
  })
})

describe('assumes no block interval', () => {
  test('for blocks that follow transactions, however regular these are', async () => {
    const mined = every(10_000, 6)
    await lookUntil(lastOf(mined) + 1_000, mined)
    for (let i = 0; i < 6; i++) blockTime.included(now - 60)
    expect(blockTime.newest()).toBeUndefined()
  })

  test('for blocks at irregular times', async () => {
    const start = now
    const mined = [7, 31, 38, 77, 80, 104].map((time) => start + time * 1_000)
    await lookUntil(start + 105_000, mined)
    blockTime.included(now - 20_000)
    expect(blockTime.interval()).toBeUndefined()
    expect(blockTime.newest()).toBeUndefined()
  })

  test('for blocks faster than two seconds', async () => {
    const mined = every(250, 200)
    await lookUntil(lastOf(mined), mined)
    blockTime.included(now - 300)
    expect(blockTime.newest()).toBeUndefined()
  })

  test('for a chain that went back', async () => {
    const mined = every(12_000, 5)
    await lookUntil(lastOf(mined) + 1_000, mined)
    blockTime.included(now - 11_000)
    head = { number: 90, timestamp: secondsAt(now) }
    await lookUntil(now + 13_000, [])
    expect(blockTime.newest()).toBeUndefined()
  })
})

describe('reads of the newest block', () => {
  test('are few for each block, once blocks come at regular times', async () => {
    const mined = every(12_000, 25)
    await lookUntil(mined[4] ?? NaN, mined)
    blockTime.included(now - 11_000)
    reads = 0
    await lookUntil(lastOf(mined), mined)
    expect(reads).toBeLessThanOrEqual(4 * 20)
    expect(blockTime.newest()).toBe(124)
  })

  test('show the interval at once from the blocks before the first one', async () => {
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
  })

  test('irregular blocks no longer count after a pause', async () => {
    const block = async (number: number) => ({
      number,
      timestamp: head.timestamp - 12 * (head.number - number),
    })
    let before: (number: number) => Promise<Head> = async () => ({ number: 99, timestamp: 1 })
    blockTime = createBlockTime(
      { head: async () => head, block: (number) => before(number) },
      () => now,
    )
    await blockTime.look()
    expect(blockTime.interval()).toBeUndefined()
    before = block
    now += 60_000
    head = { number: 105, timestamp: secondsAt(now) }
    await blockTime.look()
    expect(blockTime.interval()).toBe(12_000)
  })

  test('give no newest block while the node does not answer', async () => {
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

describe('when changes get a transaction', () => {
  const load = { gatheringSince: 50_000, roundTrip: 12_000, oldestMade: undefined }

  test('a single change gets one at once, with or without regular blocks', () => {
    expect([dueAt(load, undefined), dueAt(load, 12_000)]).toEqual([50_000, 50_000])
  })

  /**
   * Transactions of a steady load, each sent as soon as it is due, until the first one is included.
   *
   * @param interval Milliseconds between regular blocks; `undefined` = unknown.
   */
  function sentIn(milliseconds: number, interval: number | undefined): number[] {
    const start = performance.now()
    const times = [0]
    for (let time = 0; ; times.push(time)) {
      const sending = { gatheringSince: start, roundTrip: 12_000, oldestMade: start - time }
      time += Math.max(dueAt(sending, interval) - start, 1)
      if (time >= milliseconds) return times
    }
  }

  test('with a block every 12 seconds, each block gets a few, and no change waits long', () => {
    const times = sentIn(12_000, 12_000)
    expect(times.length).toBeLessThanOrEqual(9)
    const waits = times.slice(1).map((time, i) => time - (times[i] ?? 0))
    expect(Math.max(...waits)).toBeLessThan(1_600)
  })

  test.each([undefined, 12_000])('slots stay free when blocks do not come (%s)', (interval) => {
    expect(sentIn(12_000, interval).length).toBeLessThanOrEqual(10)
    expect(sentIn(60_000, interval).length).toBeLessThanOrEqual(16)
  })
})
