import { randomBytes } from 'node:crypto'
import { Interface, Transaction } from 'ethers'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { type Hex, toHex } from '../../document/hex.ts'
import { createRegistry } from '../../gateway/adapters/registry.ts'
import { createKeySigner } from '../../gateway/adapters/signer.ts'
import type { Intent, Registry } from '../../gateway/issue/ports.ts'
import { registryAbi } from '../../verifier/readers/registry-abi.ts'

const abi = new Interface(registryAbi)
const ADDRESS = `0x${'ab'.repeat(20)}`
const CALL = 26_000
const EACH = 25_000

const hash = (): Hex => toHex(randomBytes(32))
const issues = (count: number): Intent[] =>
  Array.from({ length: count }, () => ({
    kind: 'issue',
    documentHash: hash(),
    validUntil: 0,
  }))

/** How many hashes were in each estimate that was asked for. */
let estimated: number[]
/** Of those, how many are on the chain already. */
let there: number
let receipt: unknown
/** What the node answers to these methods instead. */
let garbage: Record<string, unknown>
let registry: Registry

beforeEach(async () => {
  estimated = []
  there = 0
  garbage = {}
  const signer = createKeySigner(hash())
  const account = abi.encodeFunctionResult('accountOf', [
    { issuerId: 7, accountIndex: 0, active: true, distrustedFrom: 0 },
  ])
  const answers: Record<string, (params: unknown[]) => unknown> = {
    eth_chainId: () => '0x7a69',
    eth_call: () => account,
    eth_getBalance: () => '0xffffffffff',
    eth_maxPriorityFeePerGas: () => '0x1',
    eth_getBlockByNumber: () => ({ baseFeePerGas: '0x7' }),
    eth_estimateGas: ([call]) => {
      const { data } = call as { data: string }
      const count = abi.parseTransaction({ data })?.args[0].length
      estimated.push(count)
      return `0x${(CALL + EACH * (count - there)).toString(16)}`
    },
    eth_getTransactionReceipt: () => receipt,
    eth_getTransactionCount: () => '0x0',
    eth_getLogs: () => [],
  }
  registry = await createRegistry(
    {
      request: async ({ method, params = [] }) =>
        method in garbage
          ? garbage[method]
          : answers[method]?.(params as unknown[]),
    },
    { registry: `eip155:31337:${ADDRESS}`, signer },
  )
})

const gasOf = async (intents: readonly Intent[]) =>
  Number(Transaction.from((await registry.prepare(intents, 0)).raw).gasLimit)
const withMargin = (gas: number) => Math.floor((gas * 110) / 100)

describe('gas', () => {
  test('default: an estimate is good for as many or fewer, for a moment', async () => {
    const whole = withMargin(CALL + EACH * 200)
    expect(await gasOf(issues(200))).toBe(whole)
    expect(await gasOf(issues(200))).toBe(whole)
    expect(await gasOf(issues(90))).toBe(whole)
    expect(estimated).toEqual([200])
    vi.useFakeTimers({ now: Date.now() + 1_000, toFake: ['performance'] })
    vi.advanceTimersByTime(60_000)
    await gasOf(issues(90))
    vi.useRealTimers()
    expect(estimated).toEqual([200, 90])
  })

  test('behavior: not for more, nor for a few', async () => {
    await gasOf(issues(20))
    await gasOf(issues(21))
    expect(await gasOf(issues(2))).toBe(withMargin(CALL + EACH * 2))
    expect(estimated).toEqual([20, 21, 2])
  })

  test('behavior: not for a replacement', async () => {
    const intents = issues(50)
    const stuck = await registry.prepare(intents, 0)
    await registry.prepare(intents, 0, stuck)
    expect(estimated).toEqual([50, 50])
  })

  test.each([20, 200])(
    'behavior: of %i, one in ten of which the chain has already, it is good for no others',
    async (count) => {
      there = count / 10
      await gasOf(issues(count))
      there = 0
      expect(await gasOf(issues(count))).toBe(withMargin(CALL + EACH * count))
      expect(estimated).toEqual([count, count])
    },
  )

  test('behavior: each kind has its own', async () => {
    await gasOf(issues(50))
    const revocations = issues(30).map(
      ({ documentHash }) =>
        ({ kind: 'revoke', documentHash, reason: 1 }) as const,
    )
    await gasOf(revocations)
    expect(estimated).toEqual([50, 30])
  })
})

describe('events of a receipt', () => {
  const issued = abi.getEvent('DocumentIssued')?.topicHash
  const [one, other] = [hash(), hash()]
  const transactionHash = hash()
  const blockHash = hash()
  const log = (address: string, topic: unknown, documentHash: Hex) => ({
    address,
    topics: [topic, documentHash],
    data: '0x',
    transactionHash,
    blockHash,
    logIndex: '0x0',
  })
  const mined = (logs: unknown[]) => ({ blockNumber: '0x10', blockHash, logs })

  test("default: the registry's, of that kind", async () => {
    receipt = mined([
      log(ADDRESS.toUpperCase().replace('0X', '0x'), issued, one),
      log(`0x${'cd'.repeat(20)}`, issued, other),
      log(ADDRESS, hash(), other),
    ])
    const events = await registry.eventsOf('issue', transactionHash)
    expect([...events]).toEqual([
      [one, { blockNumber: 16, blockHash, transactionHash }],
    ])
    expect((await registry.eventsOf('revoke', transactionHash)).size).toBe(0)
  })

  test.each([
    ['none', null],
    [
      'of no block yet',
      { ...mined([log(ADDRESS, issued, one)]), blockHash: null },
    ],
  ])('behavior: shows nothing when there is %s', async (_, answer) => {
    receipt = answer
    expect((await registry.eventsOf('issue', transactionHash)).size).toBe(0)
  })

  const good = log(ADDRESS, issued, one)
  test.each<[string, unknown]>([
    ['a text', 'pending'],
    ['false', false],
    ['a list', []],
    ['a receipt without logs', { ...mined([]), logs: undefined }],
    ['a receipt without the number', { ...mined([]), blockNumber: undefined }],
    ['a number with leading zeros', { ...mined([]), blockNumber: '0x01' }],
    ['a short hash', { ...mined([]), blockHash: '0x1' }],
    ['a log that is null', mined([null])],
    ['a log of no address', mined([{ ...good, address: null }])],
    ['a log whose topics are a text', mined([{ ...good, topics: 'topics' }])],
    ['a log whose topic is a number', mined([{ ...good, topics: [1] }])],
    ['a log whose logIndex is true', mined([{ ...good, logIndex: true }])],
  ])('error: refuses %s', async (_, answer) => {
    receipt = answer
    await expect(
      registry.eventsOf('issue', transactionHash),
    ).rejects.toMatchObject({ code: 'chain_unavailable' })
  })
})

describe('answers that are not what was asked for', () => {
  const NOT_QUANTITIES = [
    ...[null, true, 5, '', '5', '0x', '0x05', '0XA', '0xg', {}, []],
    `0x1${'0'.repeat(64)}`,
  ]
  const asks: Record<string, () => Promise<unknown>> = {
    eth_chainId: () => registry.assertReady(),
    eth_getBalance: () => registry.assertReady(),
    eth_getTransactionCount: () => registry.nextNonce(),
    eth_maxPriorityFeePerGas: () => registry.prepare(issues(1), 0),
    eth_estimateGas: () => registry.prepare(issues(1), 0),
  }

  test.each(Object.keys(asks))(
    'error: refuses as %s what is not a quantity',
    async (method) => {
      for (const answer of NOT_QUANTITIES) {
        garbage = { [method]: answer }
        await expect(asks[method]?.()).rejects.toMatchObject({
          code: 'chain_unavailable',
        })
      }
    },
  )

  test('error: refuses a nonce over 53 bits, which no number holds exactly', async () => {
    garbage = { eth_getTransactionCount: '0x20000000000000' }
    await expect(registry.nextNonce()).rejects.toMatchObject({
      code: 'chain_unavailable',
    })
  })

  test('error: refuses as a block what has no hash, and no fee', async () => {
    for (const block of [true, 'x', {}, { hash: null }, { hash: '0x1' }]) {
      garbage = { eth_getBlockByNumber: block }
      await expect(registry.blockHash(1)).rejects.toMatchObject({
        code: 'chain_unavailable',
      })
      await expect(registry.prepare(issues(1), 0)).rejects.toMatchObject({
        code: 'chain_unavailable',
      })
    }
    garbage = { eth_getBlockByNumber: null }
    expect(await registry.blockHash(1)).toBeNull()
  })

  test('error: refuses logs that are not logs', async () => {
    for (const logs of [null, {}, 'x', [null], [{}]]) {
      garbage = { eth_getLogs: logs }
      await expect(registry.transactionsOf('issue', 1)).rejects.toMatchObject({
        code: 'chain_unavailable',
      })
    }
  })

  test('error: refuses records of which a value is over its width', async () => {
    const record = [1n, 0n, 1n, 1n, 0n, 0n, 0n, 0n]
    const encode = (words: bigint[]) =>
      `0x${[32n, 1n, ...words].map((word) => word.toString(16).padStart(64, '0')).join('')}`
    garbage = { eth_call: encode(record) }
    expect(await registry.records([hash()])).toMatchObject([{ issuerId: 1 }])
    for (const [i, bits] of [32n, 16n, 40n, 40n, 40n, 40n, 40n, 8n].entries()) {
      garbage = { eth_call: encode(record.with(i, 2n ** bits)) }
      await expect(registry.records([hash()])).rejects.toMatchObject({
        code: 'chain_unavailable',
      })
    }
  })
})
