import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { createForeignWatch } from '#engine/foreign.ts'
import type { Plan } from '#promise/plan.ts'

const word = (n: number): Hex => `0x${String(n).padStart(64, '0')}`
const OTHER = 1_000

/** A plan with a transaction of the same number. */
function plan(nonce: number): Plan {
  const transaction = {
    ...{ nonce, hash: word(nonce), raw: word(nonce), gasLimit: 1n },
    ...{ maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
  }
  return { id: nonce, nonce, intents: [], attempts: [transaction] }
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
    watch.suspect(nonces.map(plan))
    await expect.poll(() => looks).toBe(before + nonces.length)
  }
  return { ...watch, watch, suspect, found, looks: () => looks }
}

const everyNonce = (offset: number) =>
  new Map(Array.from({ length: 100 }, (_, nonce) => [nonce, nonce + offset]))

test('default: reports a transaction from elsewhere, once', async () => {
  const { suspect, found } = open(everyNonce(OTHER))
  await suspect(7)
  await suspect(7)
  expect(found).toEqual([
    { event: 'foreign_transaction', nonce: 7, transactionHash: word(1_007) },
    'counted',
  ])
})

test('behavior: does not report a transaction of the plan, nor one that was given up', async () => {
  const { suspect, abandoned, found } = open(
    new Map([
      [7, 7],
      [8, 5],
    ]),
  )
  abandoned([plan(5)])
  await suspect(7, 8)
  expect(found).toEqual([])
})

test('behavior: reports nothing that nobody can tell', async () => {
  const { suspect, found } = open(new Map([[7, -1]]))
  await suspect(7, 8)
  expect(found).toEqual([])
})

test('behavior: looks at a few of many', async () => {
  const { watch, looks } = open(everyNonce(0))
  watch.suspect(Array.from({ length: 1_000 }, (_, nonce) => plan(nonce)))
  await expect.poll(() => looks()).toBe(16)
  await sleep(100)
  expect(looks()).toBe(16)
})

test('error: the account is shared after three of them', async () => {
  const { suspect, assertAlone } = open(everyNonce(OTHER))
  await suspect(1, 2)
  assertAlone()
  await suspect(3)
  expect(assertAlone).toThrow(expect.objectContaining({ code: 'account_shared' }))
})

test('behavior: transactions that were in the pool at the start are not somebody who runs', async () => {
  const { suspect, begin, assertAlone, found } = open(everyNonce(OTHER))
  begin(10)
  await suspect(1, 2, 3, 4, 10, 11)
  assertAlone()
  expect(found).toHaveLength(12)
  await suspect(12)
  expect(assertAlone).toThrow()
})

test('behavior: the account is not shared any more ten minutes later', async () => {
  const { suspect, assertAlone } = open(everyNonce(OTHER))
  await suspect(1, 2, 3)
  expect(assertAlone).toThrow()
  const later = performance.now() + 601_000
  vi.spyOn(performance, 'now').mockReturnValue(later)
  assertAlone()
  vi.restoreAllMocks()
})
