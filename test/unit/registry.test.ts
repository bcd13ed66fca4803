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
let registry: Registry

beforeEach(async () => {
  estimated = []
  there = 0
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
  }
  registry = await createRegistry(
    {
      request: async ({ method, params = [] }) =>
        answers[method]?.(params as unknown[]),
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
    transactionHash,
    blockHash,
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
    ['without logs', {}],
    ['a text', 'pending'],
    [
      'of no block yet',
      { ...mined([log(ADDRESS, issued, one)]), blockHash: null },
    ],
    [
      'without the number of its block',
      { ...mined([log(ADDRESS, issued, one)]), blockNumber: undefined },
    ],
  ])('behavior: %s', async (_, answer) => {
    receipt = answer
    expect((await registry.eventsOf('issue', transactionHash)).size).toBe(0)
  })
})
