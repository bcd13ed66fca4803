import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { createForeignWatch, waitForForeign } from '#engine/foreign.ts'
import { IssueError } from '#promise/errors.ts'
import type { Account } from '#promise/ports.ts'
import type { Send } from '#promise/send.ts'

const word = (n: number): Hex => `0x${String(n).padStart(64, '0')}`
const OTHER = 1_000

/** A send with a transaction of the same number, and others. */
function sendOf(nonce: number, ...others: number[]): Send {
  const attempts = [...others, nonce].map((number) => ({
    nonce,
    hash: word(number),
    raw: word(number),
    carried: 0,
    gasLimit: 1n,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
  }))
  return { id: nonce, account: '0x', nonce, members: [], attempts }
}

/** @param mined By nonce, the number of the transaction that used it. */
function open(mined: Map<number, number>) {
  const found: unknown[] = []
  let looks = 0
  const watch = createForeignWatch(
    {
      account: {
        assertReady: async () => Promise.reject(new Error('not called')),
        nextNonce: async () => 0,
        pooledNonce: async () => 0,
        async transactionWith(nonce) {
          looks++
          const hash = mined.get(nonce)
          if (hash === -1) throw new Error('missing trie node')
          return hash === undefined ? undefined : word(hash)
        },
      },
      log: {
        debug() {},
        info() {},
        warn: (event, fields) => found.push({ event, ...fields }),
        error() {},
      },
      found: () => found.push('counted'),
    },
    0,
  )
  const suspect = async (...nonces: number[]) => {
    const before = looks
    watch.suspect(nonces.map((nonce) => sendOf(nonce)))
    await expect.poll(() => looks).toBe(before + nonces.length)
  }
  return { ...watch, watch, suspect, found, looks: () => looks }
}

const everyNonce = (offset: number) =>
  new Map(Array.from({ length: 100 }, (_, nonce) => [nonce, nonce + offset]))

test('reports a foreign transaction once', async () => {
  const { suspect, found } = open(everyNonce(OTHER))
  await suspect(7)
  await suspect(7)
  expect(found).toEqual([
    { event: 'foreign_transaction', nonce: 7, transactionHash: word(1_007) },
    'counted',
  ])
})

test('does not report a transaction of the send, nor an earlier one that was replaced', async () => {
  const { watch, suspect, looks, found } = open(
    new Map([
      [7, 7],
      [8, 5],
    ]),
  )
  await suspect(7)
  watch.suspect([sendOf(8, 5)])
  await expect.poll(looks).toBe(2)
  expect(found).toEqual([])
})

test('reports nothing when the sender cannot be determined', async () => {
  const { suspect, found } = open(new Map([[7, -1]]))
  await suspect(7, 8)
  expect(found).toEqual([])
})

test('checks a sample of many', async () => {
  const { watch, looks } = open(everyNonce(0))
  watch.suspect(Array.from({ length: 1_000 }, (_, nonce) => sendOf(nonce)))
  await expect.poll(() => looks()).toBe(16)
  await sleep(100)
  expect(looks()).toBe(16)
})

test('the account counts as shared after three of them', async () => {
  const { suspect, assertAlone } = open(everyNonce(OTHER))
  await suspect(1, 2)
  assertAlone()
  await suspect(3)
  expect(assertAlone).toThrow(expect.objectContaining({ code: 'account_shared' }))
})

test('transactions that were in the pool at the start do not count', async () => {
  const { suspect, begin, assertAlone, found } = open(everyNonce(OTHER))
  begin(10)
  await suspect(1, 2, 3, 4, 10, 11)
  assertAlone()
  expect(found).toHaveLength(12)
  await suspect(12)
  expect(assertAlone).toThrow()
})

test('the account no longer counts as shared after ten minutes', async () => {
  const { suspect, assertAlone } = open(everyNonce(OTHER))
  await suspect(1, 2, 3)
  expect(assertAlone).toThrow()
  const later = performance.now() + 601_000
  vi.spyOn(performance, 'now').mockReturnValue(later)
  assertAlone()
  vi.restoreAllMocks()
})

const TIMING = { poll: 5, grace: 300, quiet: 100, limit: 3_000 }

/**
 * @param looks The account's state at each look; the last one repeats.
 * @param own Nonces in the outbox.
 */
async function start(
  looks: ([next: number, pooled: number] | Error)[],
  own: number[] = [],
  count = 0,
) {
  const events: string[] = []
  const note = (event: string) => events.push(event)
  let at = 0
  const counts = () => {
    const look = looks[Math.min(at, looks.length - 1)]
    if (look instanceof Error) throw look
    return look ?? [0, 0]
  }
  const account: Account = {
    assertReady: async () => Promise.reject(new Error('not called')),
    transactionWith: async () => undefined,
    async pooledNonce() {
      try {
        return counts()[1] + count * at
      } catch (error) {
        at++
        throw error
      }
    },
    async nextNonce() {
      const next = counts()[0] + count * at
      at++
      return next
    },
  }
  let took = 0
  const clock = {
    now: () => took,
    async sleep(duration: number) {
      took += duration
    },
  }
  const log = { debug: note, info: note, warn: note, error: note }
  const outcome = await waitForForeign({ account, own: new Set(own), log }, TIMING, clock).catch(
    (error: IssueError) => error,
  )
  return { outcome, events, looks: at, took }
}

test('checks an account with an empty pool twice', async () => {
  expect(await start([[7, 7]])).toMatchObject({ outcome: 7, events: [], looks: 2 })
})

test('transactions of the outbox are not foreign, mined or not', async () => {
  const looks: [number, number][] = [
    [5, 8],
    [7, 8],
  ]
  expect(await start(looks, [5, 6, 7])).toMatchObject({ outcome: 5, events: [], looks: 2 })
})

test('waits until the transactions of a stopped gateway are mined', async () => {
  const looks: [number, number][] = [
    ...Array.from({ length: 10 }, (): [number, number] => [5, 8]),
    [8, 8],
  ]
  const { outcome, events, took } = await start(looks)
  expect(outcome).toBe(8)
  expect(events).toEqual(['foreign_transactions_found', 'foreign_transactions_mined'])
  expect(took).toBeGreaterThanOrEqual(9 * TIMING.poll + TIMING.quiet)
  expect(took).toBeLessThan(TIMING.limit)
})

test('refuses to start when another follows each time that the last is mined', async () => {
  const looks = Array.from({ length: 200 }, (_, i): [number, number] => {
    const nonce = 5 + Math.floor(i / 10)
    return i % 10 < 5 ? [nonce, nonce + 1] : [nonce + 1, nonce + 1]
  })
  expect(await start(looks)).toMatchObject({ outcome: { code: 'account_shared' } })
})

test('waits for a foreign transaction behind one of the outbox', async () => {
  const looks: [number, number][] = [
    [5, 7],
    [5, 7],
    [7, 7],
  ]
  expect(await start(looks, [5])).toMatchObject({ outcome: 7 })
})

test('waits for a stuck transaction no longer than the limit', async () => {
  const { outcome, events, took } = await start([[5, 6]])
  expect(outcome).toBe(6)
  expect(events).toEqual(['foreign_transactions_found', 'foreign_transactions_stuck'])
  expect(took).toBeGreaterThanOrEqual(TIMING.limit)
})

test('continues when a node was behind at the first check', async () => {
  const { outcome, took } = await start([
    [5, 5],
    [6, 6],
  ])
  expect(outcome).toBe(6)
  expect(took).toBeGreaterThanOrEqual(TIMING.quiet)
  expect(took).toBeLessThan(TIMING.limit)
})

test.each([
  ['in the pool', [5, 6] as [number, number]],
  ['in blocks at once', [5, 5] as [number, number]],
])('refuses to start while foreign transactions keep coming %s', async (_, look) => {
  const { outcome, took } = await start([look], [], 1)
  expect(outcome).toMatchObject({ code: 'account_shared' })
  expect(took).toBeGreaterThanOrEqual(TIMING.grace)
  expect(took).toBeLessThan(TIMING.limit)
})

test('an outage after the first check says nothing about the account', async () => {
  const down = new IssueError('chain_unavailable', 'down')
  expect(await start([[5, 5], down])).toMatchObject({ outcome: 5, events: [] })
  expect(await start([[5, 6], down, down, [6, 6]])).toMatchObject({ outcome: 6 })
})

test('an invented nonce delays the start no longer than the limit', async () => {
  const { outcome, took } = await start([[5, Number.MAX_SAFE_INTEGER]])
  expect(outcome).toBe(Number.MAX_SAFE_INTEGER)
  expect(took).toBeLessThan(4 * TIMING.limit)
})
