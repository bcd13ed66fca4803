import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { createInFlight } from '#engine/in-flight.ts'
import { createReplacing } from '#engine/replace.ts'
import { IssueError } from '#promise/errors.ts'
import type { PrepareOptions } from '#promise/ports.ts'
import { carriedBy, type Member } from '#promise/send.ts'

const word = (n: number): Hex => `0x${String(n).padStart(64, '0')}`
const log = { debug() {}, info() {}, warn() {}, error() {} }
const SECOND = 1_000

const members: Member[] = Array.from({ length: 8 }, (_, i) => ({
  action: { kind: 'issue', documentHash: word(i), validUntil: 0 },
  place: i + 1,
}))
const sign = (hash: Hex) => ({
  nonce: 3,
  hash,
  raw: hash,
  gasLimit: 1n,
  maxFeePerGas: 1n,
  maxPriorityFeePerGas: 1n,
})

/** A send of the first members whose transaction was made this many seconds ago. */
function stuck(age: number, taken: boolean, failure?: IssueError, count = members.length) {
  const made: (PrepareOptions & { count: number })[] = []
  const chain = {
    block: 10,
    meets: false,
    fits: 8,
    same: false,
    interval: undefined as number | undefined,
  }
  let inTurn = false
  const inFlight = createInFlight()
  const attempts = [{ ...sign(word(100)), carried: count }]
  inFlight.add([{ id: 1, account: '0x', nonce: 3, members: members.slice(0, count), attempts }])
  const { replaceStuck } = createReplacing({
    inFlight,
    transactions: {
      async prepare(actions, options) {
        if (actions.length > chain.fits)
          throw new IssueError(chain.fits < 1 ? 'fee_too_high' : 'too_large', 'over the cap')
        made.push({ ...options, count: actions.length })
        return sign(chain.same ? word(100) : word(200 + made.length))
      },
      meetsCurrentFee: async () => chain.meets,
      assertAffordable: async () => {},
      broadcast: async () => 'taken',
    },
    blocks: {
      head: async () => ({ number: chain.block, timestamp: 0 }),
      block: async (number) => ({ number, timestamp: 0 }),
      blockHash: async () => word(9),
      finalizedBlock: async () => 0,
    },
    outbox: {
      replace: async (send, transaction, carried) => ({
        ...send,
        attempts: [...send.attempts, { ...transaction, carried }],
      }),
    },
    spending: {
      allowance: async () => (inTurn ? 7n : undefined),
      async inTurn(work) {
        inTurn = true
        return work().finally(() => {
          inTurn = false
        })
      },
      costOf: async () => 0n,
      lastHour: async () => 0n,
    },
    blockTime: {
      interval: () => chain.interval,
      async look() {},
      included() {},
      newest: () => undefined,
    },
    log,
  })
  const send = () => {
    const [first] = inFlight.sends()
    if (!first) throw new Error('one send')
    return first
  }
  const sending = inFlight.sendingOf(send())
  Object.assign(sending, { taken, failure })
  sending.made -= age * SECOND
  const carried = () => carriedBy(send())
  return { chain, replaceStuck, made, send, carried, attempts }
}

beforeEach(() => vi.useRealTimers())

describe('a transaction that a node accepted', () => {
  test('is not replaced before a new block has come', async () => {
    const { chain, replaceStuck, made } = stuck(31, true)
    for (let look = 0; look < 3; look++) expect(await replaceStuck()).toBe(false)
    expect(made).toEqual([])
    chain.block++
    expect(await replaceStuck()).toBe(true)
  })

  test('is not replaced on a chain that stands still, however long', async () => {
    const { replaceStuck, made } = stuck(3_600, true)
    for (let look = 0; look < 3; look++) expect(await replaceStuck()).toBe(false)
    expect(made).toEqual([])
  })

  test('is not replaced before three blocks of a slow chain', async () => {
    const { chain, replaceStuck } = stuck(100, true)
    chain.interval = 60 * SECOND
    await replaceStuck()
    chain.block++
    expect(await replaceStuck()).toBe(false)
    const later = stuck(181, true)
    later.chain.interval = 60 * SECOND
    await later.replaceStuck()
    later.chain.block++
    expect(await later.replaceStuck()).toBe(true)
  })

  test('is not replaced while it meets the current fee, until twice the time', async () => {
    const { chain, replaceStuck } = stuck(31, true)
    chain.meets = true
    await replaceStuck()
    chain.block++
    expect(await replaceStuck()).toBe(false)
    const later = stuck(61, true)
    later.chain.meets = true
    await later.replaceStuck()
    later.chain.block++
    expect(await later.replaceStuck()).toBe(true)
  })

  test('is replaced within the fee cap, and then waits for another block', async () => {
    const { chain, replaceStuck, made, attempts } = stuck(31, true)
    await replaceStuck()
    chain.block++
    await replaceStuck()
    const [replaced] = attempts
    expect(made).toEqual([{ nonce: 3, planned: replaced, maxFee: 7n, replaced, count: 8 }])
    chain.block++
    expect(await replaceStuck()).toBe(false)
  })

  test('has a replacement with as many members as the caps allow; the others stay', async () => {
    const { chain, replaceStuck, send, carried } = stuck(31, true)
    chain.fits = 3
    await replaceStuck()
    chain.block++
    expect(await replaceStuck()).toBe(true)
    expect(carried()).toEqual(members.slice(0, 2))
    expect(send().members).toEqual(members)
  })

  test('a further replacement carries no more than the last one', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { chain, replaceStuck, made, carried } = stuck(31, true)
    chain.fits = 3
    await replaceStuck()
    chain.block++
    expect(await replaceStuck()).toBe(true)
    chain.fits = 8
    vi.advanceTimersByTime(31 * SECOND)
    expect(await replaceStuck()).toBe(false)
    chain.block++
    expect(await replaceStuck()).toBe(true)
    expect(made.map(({ count }) => count)).toEqual([2, 2])
    expect(carried()).toHaveLength(2)
  })

  test('is replaced as well when it is an empty transfer', async () => {
    const { chain, replaceStuck, made } = stuck(31, true, undefined, 0)
    await replaceStuck()
    chain.block++
    expect(await replaceStuck()).toBe(true)
    expect(made).toMatchObject([{ nonce: 3, count: 0 }])
  })

  test('is not replaced at the cap', async () => {
    const { chain, replaceStuck, carried } = stuck(31, true)
    chain.fits = 0
    await replaceStuck()
    chain.block++
    await expect(replaceStuck()).rejects.toMatchObject({ code: 'fee_too_high' })
    expect(carried()).toHaveLength(8)
  })
})

describe('a transaction that every node refused', () => {
  const refused = new IssueError(
    'registry_refused',
    'tx fee (1.20 ether) exceeds the configured cap (1.00 ether)',
  )

  test('is split, and not sent again', async () => {
    const { replaceStuck, made, send, carried, attempts } = stuck(2, false, refused)
    const [planned] = attempts
    expect(await replaceStuck()).toBe(true)
    expect(made).toEqual([{ nonce: 3, planned, maxFee: 7n, count: 4 }])
    expect(carried()).toEqual(members.slice(0, 4))
    expect(send().members).toEqual(members)
  })

  test('is made again less and less often while no node accepts it', async () => {
    const down = new IssueError('registry_refused', 'insufficient funds for gas')
    vi.useFakeTimers({ toFake: ['performance'] })
    const { replaceStuck, made, chain } = stuck(0, false, down, 1)
    chain.meets = true
    for (let second = 0; second < 3_600; second++) {
      vi.advanceTimersByTime(SECOND)
      await replaceStuck()
    }
    expect(made.length).toBeGreaterThan(5)
    expect(made.length).toBeLessThan(15)
  })

  test('is not signed again when the bytes would be the same', async () => {
    const { replaceStuck, made, chain } = stuck(6, false, undefined, 1)
    chain.same = true
    chain.meets = true
    for (let look = 0; look < 10; look++) expect(await replaceStuck()).toBe(false)
    expect(made).toHaveLength(1)
  })

  test('is made again after a rebroadcast when its fee is now too low', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { replaceStuck, made } = stuck(6, false, undefined, 1)
    for (let look = 0; look < 5; look++) {
      await replaceStuck()
      vi.advanceTimersByTime(6 * SECOND)
    }
    expect(made).toHaveLength(5)
  })

  test('is not split when no node answered', async () => {
    const down = new IssueError('chain_unavailable', 'connection refused')
    const { replaceStuck, made, attempts } = stuck(6, false, down)
    const [planned] = attempts
    await replaceStuck()
    expect(made).toEqual([{ nonce: 3, planned, maxFee: 7n, count: 8 }])
  })
})
