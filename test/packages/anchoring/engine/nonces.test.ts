import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { createInFlight } from '#engine/in-flight.ts'
import { createNonces } from '#engine/nonces.ts'
import type { Send } from '#promise/send.ts'

const ADDRESS: Hex = '0xad'
const SECOND = 1_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const sendOf = (nonce: number): Send => ({
  id: nonce,
  account: ADDRESS,
  nonce,
  members: [],
  attempts: [],
})

/**
 * @param count The nonce after the newest block.
 * @param nonces Those in flight.
 */
function open(count: number, ...nonces: number[]) {
  const chain = {
    count,
    /** The nonces of sends that are not final. */
    open: nonces,
    interval: undefined as number | undefined,
  }
  const warnings: unknown[] = []
  const inFlight = createInFlight()
  inFlight.add(nonces.map(sendOf))
  const account = createNonces({
    address: ADDRESS,
    account: {
      assertReady: async () => ({ balance: 1n, mayIssue: true, mayRevoke: true }),
      nextNonce: async () => chain.count,
      pooledNonce: async () => chain.count,
      transactionWith: async () => undefined,
    },
    outbox: {
      openNonces: async (address, from) =>
        address === ADDRESS ? chain.open.filter((nonce) => nonce >= from) : [],
    },
    inFlight,
    blockTime: {
      interval: () => chain.interval,
      async look() {},
      included() {},
      newest: () => undefined,
    },
    log: {
      debug() {},
      info() {},
      warn: (event, fields) => warnings.push({ event, ...fields }),
      error() {},
    },
  })
  /** @returns The nonces to fill after so many seconds, according to a look. */
  async function gapAfter(seconds: number) {
    vi.advanceTimersByTime(seconds * SECOND)
    return account.gap(await account.look())
  }
  return { ...account, chain, inFlight, gapAfter, warnings }
}

describe('the next nonce', () => {
  test('is the one that the chain needs, when no send has it', async () => {
    expect(await open(8).next()).toBe(8)
  })

  test('is after those in flight', async () => {
    expect(await open(8, 8, 9).next()).toBe(10)
  })

  test('is after every send that is not final, even if the count of the node lags', async () => {
    const { chain, next } = open(8)
    chain.open = [10, 11]
    expect(await next()).toBe(12)
  })

  test('is after a finished send, although an earlier one is in flight again', async () => {
    const { chain, next } = open(8, 8)
    chain.open = [8, 9]
    expect(await next()).toBe(10)
  })

  test('is that of the chain when a foreign transaction came after the last send', async () => {
    const { chain, next } = open(8)
    chain.open = [5]
    expect(await next()).toBe(8)
  })

  test('is read again a moment after the last check', async () => {
    const { chain, look, next } = open(8)
    await look()
    chain.count = 9
    expect(await next()).toBe(8)
    vi.advanceTimersByTime(SECOND)
    expect(await next()).toBe(9)
  })
})

describe('a gap of nonces', () => {
  test('is filled after 30 s', async () => {
    const { gapAfter, warnings } = open(8, 10, 11)
    expect(await gapAfter(60)).toEqual([])
    expect(await gapAfter(29)).toEqual([])
    expect(warnings).toEqual([])
    expect(await gapAfter(1)).toEqual([8, 9])
    expect(warnings).toEqual([{ event: 'nonces_lost', from: 8, to: 10 }])
  })

  test('is filled by at most 100 transactions at once', async () => {
    const { gapAfter } = open(8, 500)
    await gapAfter(0)
    expect(await gapAfter(30)).toEqual(Array.from({ length: 100 }, (_, i) => 8 + i))
  })

  test('is none while the first nonce in flight is the one that the chain needs', async () => {
    const { gapAfter } = open(8, 8, 12)
    await gapAfter(0)
    expect(await gapAfter(3_600)).toEqual([])
  })

  test('leaves out nonces of sends that are not final', async () => {
    const { chain, gapAfter, warnings } = open(8, 11)
    chain.open = [8, 10, 11]
    await gapAfter(0)
    expect(await gapAfter(30)).toEqual([9])
    chain.open = [8, 9, 10, 11]
    warnings.splice(0)
    expect(await gapAfter(30)).toEqual([])
    expect(warnings).toEqual([])
  })

  test('is none when nothing is in flight', async () => {
    const { gapAfter } = open(8)
    await gapAfter(0)
    expect(await gapAfter(3_600)).toEqual([])
  })

  test('is not filled when it closes by itself, and the wait starts again for the next', async () => {
    const { chain, inFlight, gapAfter } = open(8, 10)
    await gapAfter(0)
    // The sends of a block that was replaced are in flight again.
    inFlight.add([8, 9].map(sendOf))
    expect(await gapAfter(40)).toEqual([])
    inFlight.drop([8, 9].map(sendOf))
    chain.count = 9
    expect(await gapAfter(40)).toEqual([])
    expect(await gapAfter(29)).toEqual([])
    expect(await gapAfter(1)).toEqual([9])
  })

  test('is filled after three slow blocks', async () => {
    const { chain, gapAfter } = open(8, 10)
    chain.interval = 60 * SECOND
    await gapAfter(0)
    expect(await gapAfter(179)).toEqual([])
    expect(await gapAfter(1)).toEqual([8, 9])
  })
})
