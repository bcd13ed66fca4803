import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { Hex } from '../../document/hex.ts'
import { IssueError } from '../../gateway/issue/errors.ts'
import { createInFlight } from '../../gateway/issue/in-flight.ts'
import type { Intent, Plan, PrepareOptions } from '../../gateway/issue/ports.ts'
import { createReplacing } from '../../gateway/issue/replace.ts'

const word = (n: number): Hex => `0x${String(n).padStart(64, '0')}`
const log = { debug() {}, info() {}, warn() {}, error() {} }
const SECOND = 1_000

const intents: Intent[] = Array.from({ length: 8 }, (_, i) => ({
  kind: 'issue',
  documentHash: word(i),
  validUntil: 0,
}))
const sign = (hash: Hex) => ({
  ...{ nonce: 3, hash, raw: hash, gasLimit: 1n },
  ...{ maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
})

/** A plan that was made so many seconds ago. */
function stuck(age: number, taken: boolean, failure?: IssueError) {
  const made: (PrepareOptions & { count: number })[] = []
  const requeued: Intent[] = []
  const chain = {
    ...{ block: 10, meets: false, fits: 8 },
    interval: undefined as number | undefined,
  }
  let inTurn = false
  const inFlight = createInFlight()
  const attempts = [sign(word(100))]
  inFlight.add([{ id: 1, nonce: 3, intents, attempts }])
  const { replaceStuck } = createReplacing({
    inFlight,
    transactions: {
      async prepare(intents, options) {
        if (intents.length > chain.fits)
          throw new IssueError(chain.fits < 1 ? 'fee_too_high' : 'too_large', 'over the cap')
        made.push({ ...options, count: intents.length })
        return sign(word(200 + made.length))
      },
      meetsCurrentFee: async () => chain.meets,
      assertAffordable: async () => {},
      broadcast: async () => 'taken',
    },
    blocks: {
      head: async () => ({ number: chain.block, timestamp: 0 }),
      blockHash: async () => word(9),
      finalizedBlock: async () => 0,
    },
    outbox: {
      plans: async () => [],
      plan: async () => Promise.reject(new Error('no new plan')),
      replace: async (plan, transaction, intents): Promise<Plan> => ({
        ...{ ...plan, intents, attempts: [...plan.attempts, transaction] },
      }),
      settle: async () => {},
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
      nextAfter: () => undefined,
      lead: () => 0,
      look() {},
      included() {},
    },
    conclude: (intent) => requeued.push(intent),
    log,
  })
  const [plan] = inFlight.plans()
  if (!plan) throw new Error('one plan')
  const sending = inFlight.sendingOf(plan)
  Object.assign(sending, { taken, failure })
  sending.made -= age * SECOND
  const carried = () => inFlight.plans()[0]?.intents.length
  return { chain, replaceStuck, made, requeued, carried, attempts }
}

beforeEach(() => vi.useRealTimers())

describe('a transaction that a node took', () => {
  test('default: is not replaced before a new block has come', async () => {
    const { chain, replaceStuck, made } = stuck(31, true)
    for (let look = 0; look < 3; look++) expect(await replaceStuck()).toBe(false)
    expect(made).toEqual([])
    chain.block++
    expect(await replaceStuck()).toBe(true)
  })

  test('behavior: nor on a chain that stands still, however long', async () => {
    const { replaceStuck, made } = stuck(3_600, true)
    for (let look = 0; look < 3; look++) expect(await replaceStuck()).toBe(false)
    expect(made).toEqual([])
  })

  test('behavior: nor before three blocks of a slow chain', async () => {
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

  test('behavior: nor while it pays what the chain asks, until twice the time', async () => {
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

  test('behavior: is replaced within what may be spent, and after that waits for another block', async () => {
    const { chain, replaceStuck, made, attempts } = stuck(31, true)
    await replaceStuck()
    chain.block++
    await replaceStuck()
    const [replaced] = attempts
    expect(made).toEqual([{ nonce: 3, maxFee: 7n, replaced, count: 8 }])
    chain.block++
    expect(await replaceStuck()).toBe(false)
  })

  test('behavior: carries as many as the dearer one can pay for', async () => {
    const { chain, replaceStuck, requeued, carried } = stuck(31, true)
    chain.fits = 3
    await replaceStuck()
    chain.block++
    expect(await replaceStuck()).toBe(true)
    expect(carried()).toBe(2)
    expect(requeued).toEqual(intents.slice(2))
  })

  test('error: at the cap it stays as it is', async () => {
    const { chain, replaceStuck, carried } = stuck(31, true)
    chain.fits = 0
    await replaceStuck()
    chain.block++
    await expect(replaceStuck()).rejects.toMatchObject({ code: 'fee_too_high' })
    expect(carried()).toBe(8)
  })
})

describe('a transaction that every node refused', () => {
  const refused = new IssueError(
    'registry_refused',
    'tx fee (1.20 ether) exceeds the configured cap (1.00 ether)',
  )

  test('default: is split, and not sent again', async () => {
    const { replaceStuck, made, requeued, carried } = stuck(2, false, refused)
    expect(await replaceStuck()).toBe(true)
    expect(made).toEqual([{ nonce: 3, maxFee: 7n, count: 4 }])
    expect(carried()).toBe(4)
    expect(requeued).toEqual(intents.slice(4))
  })

  test('behavior: is not split when no node answered', async () => {
    const down = new IssueError('chain_unavailable', 'connection refused')
    const { replaceStuck, made } = stuck(6, false, down)
    await replaceStuck()
    expect(made).toEqual([{ nonce: 3, maxFee: 7n, count: 8 }])
  })
})
