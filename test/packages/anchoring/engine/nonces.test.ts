import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { createInFlight } from '#engine/in-flight.ts'
import { createNonces } from '#engine/nonces.ts'

// A reorg dropped settled transactions; the node may or may not have returned them to its pool.

const log = { debug() {}, info() {}, warn() {}, error() {} }
const raw: Hex = '0x01'

let chain: { next: number; pooled: number; isBack: boolean }
let abandoned: number
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  chain = { next: 8, pooled: 8, isBack: false }
  abandoned = 0
})
afterEach(() => void vi.useRealTimers())

const transaction = (nonce: number) => ({
  nonce,
  hash: raw,
  raw,
  gasLimit: 1n,
  maxFeePerGas: 1n,
  maxPriorityFeePerGas: 1n,
})

/** @param nonces Those in flight; nonce 8 was settled. */
function open(...nonces: number[]) {
  const inFlight = createInFlight()
  inFlight.add(
    nonces.map((nonce) => ({
      id: nonce,
      account: '0x',
      nonce,
      intents: [],
      attempts: [transaction(nonce)],
    })),
  )
  const account = createNonces({
    account: {
      assertReady: async () => ({
        balance: 1n,
        mayIssue: true,
        mayRevoke: true,
      }),
      nextNonce: async () => chain.next,
      pooledNonce: async () => chain.pooled,
      transactionWith: async () => undefined,
    },
    registry: {
      isPooled: async () => chain.isBack,
      records: async () => [],
      transactionsOf: async () => new Map(),
      receiptOf: async () => undefined,
    },
    inFlight,
    blockTime: {
      interval: () => undefined,
      async look() {},
      included() {},
      newest: () => undefined,
    },
    abandon: async (plans) => {
      abandoned += plans.length
      inFlight.drop(plans)
    },
    log,
  })
  const attempts = [transaction(8)]
  account.settled([{ id: 1, account: '0x', nonce: 8, intents: [], attempts }])
  const after = async (milliseconds: number) => {
    vi.advanceTimersByTime(milliseconds)
    await account.closeGap(await account.look())
    return abandoned
  }
  return { next: account.next, after }
}

test('default: gives up transactions after a nonce gap, after a moment', async () => {
  const { after } = open(10, 11)
  expect(await after(0)).toBe(0)
  expect(await after(3_500)).toBe(2)
})

test('behavior: waits while the node has the missing ones in its pool', async () => {
  Object.assign(chain, { pooled: 12, isBack: true })
  const { after } = open(10, 11)
  expect(await after(0)).toBe(0)
  expect(await after(3_500)).toBe(0)
  chain.next = 10
  expect(await after(60_000)).toBe(0)
})

test('behavior: does not wait endlessly for pooled transactions that are never mined', async () => {
  Object.assign(chain, { pooled: 12, isBack: true })
  const { next, after } = open(10, 11)
  await after(0)
  expect(await after(31_000)).toBe(2)
  // The stuck transaction is replaced.
  expect(await next()).toBe(8)
})

test('behavior: puts a new transaction after those that a reorg returned to the pool', async () => {
  Object.assign(chain, { pooled: 10, isBack: true })
  expect(await open().next()).toBe(10)
})
