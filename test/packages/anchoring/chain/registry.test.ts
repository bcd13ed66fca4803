import { randomBytes } from 'node:crypto'
import { Transaction } from 'ethers'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { registryAbi } from '#base/registry-abi.ts'
import { createRegistry, type RegistryPorts } from '#chain/registry.ts'
import { createKeySigner } from '#chain/signer.ts'
import { type Hex, toHex } from '#document/hex.ts'
import { formatRegistryId } from '#document/registry-id.ts'
import type { Action } from '#promise/action.ts'
import { RpcResponseError } from '#verifier/errors.ts'

const ADDRESS = `0x${'ab'.repeat(20)}`
const ISSUER_ID = 7

const hash = (): Hex => toHex(randomBytes(32))
const key = () => ({ documentHash: hash() })
const issues = (count: number): Action[] =>
  Array.from({ length: count }, () => ({
    kind: 'issue',
    documentHash: hash(),
    validUntil: 0,
  }))

/** The number of hashes in each requested estimate. */
let estimated: number[]
/** The number of those that are already on the chain. */
let there: number
/** The gas of a call, and of each document in it. */
let base: number
let each: number
let receipt: unknown
/** The registry's records. */
let account: Record<string, unknown>
let issuer: Record<string, unknown>
let records: unknown[]
/** The called views. */
let calls: string[]
/** Replaces the node's answers to these methods. */
let garbage: Record<string, unknown>
/** Replaces the node's answer to an estimate. */
let failure: Error | undefined
let open: () => Promise<RegistryPorts>
let ports: RegistryPorts

beforeEach(async () => {
  estimated = []
  there = 0
  base = 26_000
  each = 25_000
  garbage = {}
  failure = undefined
  calls = []
  records = []
  const signer = createKeySigner(hash())
  account = {
    account: signer.address,
    accountIndex: 1,
    permissions: 3,
    addedBlock: 5,
    changedBlock: 0,
    retiredBlock: 0,
    distrustedFrom: 0,
  }
  issuer = {
    name: 'Office',
    uri: '',
    documentCount: 0,
    batchCount: 0,
    accountCount: 2,
    changedBlock: 5,
    closedBlock: 0,
  }
  const answers: Record<string, (params: unknown[]) => unknown> = {
    eth_chainId: () => '0x7a69',
    eth_getCode: () => '0x',
    eth_call: ([call]) => {
      const { data } = call as { data: string }
      const name = registryAbi.parseTransaction({ data })?.name ?? ''
      calls.push(name)
      if (name === 'recordsOf') return registryAbi.encodeFunctionResult(name, [records])
      const struct = name === 'issuerOf' ? issuer : account
      return registryAbi.encodeFunctionResult(name, [struct])
    },
    eth_getBalance: () => '0xffffffffff',
    eth_maxPriorityFeePerGas: () => '0x1',
    eth_getBlockByNumber: () => ({ baseFeePerGas: '0x7' }),
    eth_estimateGas: ([call]) => {
      if (failure) throw failure
      const { data } = call as { data: string }
      const count = registryAbi.parseTransaction({ data })?.args[1].length ?? 0
      estimated.push(count)
      return `0x${(base + each * (count - there)).toString(16)}`
    },
    eth_getTransactionReceipt: () => receipt,
    eth_getTransactionCount: () => '0x0',
    eth_getLogs: () => [],
  }
  open = () =>
    createRegistry(
      {
        request: async ({ method, params = [] }) =>
          method in garbage ? garbage[method] : answers[method]?.(params as unknown[]),
      },
      { registry: formatRegistryId(31_337, ADDRESS), issuerId: ISSUER_ID, signer },
    )
  ports = await open()
})

const gasOf = async (actions: readonly Action[]) =>
  Number(Transaction.from((await ports.transactions.prepare(actions, { nonce: 0 })).raw).gasLimit)
const withMargin = (gas: number) => Math.floor((gas * 110) / 100)

describe('gas', () => {
  const full = (count: number) => withMargin(base + each * count)
  /** Two estimates of lists that are new to the chain. */
  const learn = async (count: number) => {
    await gasOf(issues(count))
    await gasOf(issues(count))
    estimated = []
  }

  test('reuses two estimates for as many changes or fewer, for a moment', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    for (let i = 0; i < 4; i++) expect(await gasOf(issues(100))).toBe(full(100))
    expect(await gasOf(issues(90))).toBe(full(100))
    expect(estimated).toEqual([100, 100])
    vi.advanceTimersByTime(60_000)
    await gasOf(issues(90))
    expect(estimated).toEqual([100, 100, 90])
  })

  test('raises an estimate in proportion for more', async () => {
    await learn(20)
    const gas = await gasOf(issues(50))
    expect(gas).toBe(withMargin(Math.ceil(((base + each * 20) * 50) / 20)))
    expect(gas).toBeGreaterThan(full(50))
    expect(estimated).toEqual([])
  })

  test('does not reuse an estimate for far fewer, nor theirs for more', async () => {
    await learn(50)
    expect(await gasOf(issues(20))).toBe(full(20))
    expect(await gasOf(issues(2))).toBe(full(2))
    expect(await gasOf(issues(50))).toBeGreaterThanOrEqual(full(50))
    expect(estimated).toEqual([20, 2])
  })

  test('does not reuse an estimate for a replacement', async () => {
    await learn(50)
    const actions = issues(50)
    const planned = await ports.transactions.prepare(actions, { nonce: 0 })
    await ports.transactions.prepare(actions, { nonce: 0, planned, replaced: planned })
    await ports.transactions.prepare(actions, { nonce: 0, planned })
    expect(estimated).toEqual([50, 50])
  })

  test.each([
    ['first', 0],
    ['later', 100],
  ])('does not rely on a list that is mostly on the chain, %s', async (_, before) => {
    if (before > 0) await learn(before)
    there = 75
    await ports.transactions.quote(issues(100))
    there = 0
    expect(await gasOf(issues(100))).toBe(full(100))
  })

  test('learns that new slots cost five times as much, and less again', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    await learn(100)
    each *= 5
    // An estimate from before the change lasts for a moment.
    vi.advanceTimersByTime(1_001)
    for (let i = 0; i < 3; i++) expect(await gasOf(issues(100))).toBe(full(100))
    expect(estimated).toEqual([100])
    each /= 5
    for (let i = 0; i < 4; i++) {
      vi.advanceTimersByTime(1_001)
      expect(await gasOf(issues(100))).toBe(full(100))
    }
    expect(await gasOf(issues(100))).toBe(full(100))
    expect(estimated).toEqual([100, 100, 100, 100, 100])
  })

  test('remembers what does not fit in a transaction, until it does', async () => {
    each *= 5
    await learn(100)
    await expect(gasOf(issues(200))).rejects.toMatchObject({ code: 'too_large' })
    expect(estimated).toEqual([])
    each /= 5
    await ports.transactions.quote(issues(100))
    await gasOf(issues(200))
    expect(estimated).toEqual([100, 200])
  })

  test('still makes smaller sends after a list that does not fit', async () => {
    each *= 5
    for (const count of [200, 100, 100, 200])
      await gasOf(issues(count)).catch(({ code }) =>
        expect([count, code]).toEqual([200, 'too_large']),
      )
    expect(estimated).toEqual([200, 100, 100])
  })

  test('accepts an estimate below 21,000', async () => {
    base = 12_000
    there = 1
    expect(await gasOf(issues(1))).toBe(withMargin(12_000))
  })

  test('keeps an estimate for each kind', async () => {
    await gasOf(issues(50))
    const revocations = issues(30).map(
      ({ documentHash }) => ({ kind: 'revoke', documentHash, reason: 1 }) as const,
    )
    await gasOf(revocations)
    expect(estimated).toEqual([50, 30])
  })

  test('a batch that is on the chain already keeps its gas limit', async () => {
    const root = hash()
    const batch: Action = { kind: 'issue', documentHash: root, root, validUntil: 9 }
    const planned = await ports.transactions.prepare(issues(1), { nonce: 0 })
    failure = new RpcResponseError(3, 'execution reverted', undefined)
    const again = await ports.transactions.prepare([batch], { nonce: 0, planned })
    expect(again.gasLimit).toBe(planned.gasLimit)
  })
})

describe('an empty transfer', () => {
  test('goes from the account to itself, with its own gas', async () => {
    const { hash: transactionHash, raw } = await ports.transactions.prepare([], { nonce: 9 })
    const { from, to, nonce, data, value, gasLimit } = Transaction.from(raw)
    expect({ from, to }).toEqual({ from: account.account, to: account.account })
    expect({ nonce, data, value }).toEqual({ nonce: 9, data: '0x', value: 0n })
    expect(gasLimit).toBe(BigInt(withMargin(base)))
    expect(Transaction.from(raw).hash).toBe(transactionHash)
    await gasOf(issues(2))
    expect(estimated).toEqual([0, 2])
  })

  test('is replaced by one that pays more', async () => {
    const planned = await ports.transactions.prepare([], { nonce: 9 })
    const next = await ports.transactions.prepare([], { nonce: 9, planned, replaced: planned })
    expect(next.maxFeePerGas * 8n).toBeGreaterThanOrEqual(planned.maxFeePerGas * 9n)
  })

  test('offers its maximum fee, down to what the chain asks', async () => {
    const gas = BigInt(withMargin(base))
    const prepare = (maxFee: bigint) => ports.transactions.prepare([], { nonce: 0, maxFee })
    expect(await prepare(gas * 8n)).toMatchObject({ maxFeePerGas: 8n })
    await expect(prepare(gas * 8n - 1n)).rejects.toMatchObject({ code: 'fee_too_high' })
  })
})

describe('where gas is free', () => {
  const free = (balance: string) => {
    garbage = { eth_getBlockByNumber: { baseFeePerGas: '0x0' }, eth_getBalance: balance }
  }
  const replace = async () => {
    const planned = await ports.transactions.prepare(issues(1), { nonce: 0 })
    return ports.transactions.prepare(issues(1), { nonce: 0, planned, replaced: planned })
  }

  test('an account without a balance is ready and pays nothing, also for a replacement', async () => {
    free('0x0')
    expect(await ports.account.assertReady()).toMatchObject({ balance: 0n })
    expect(await replace()).toMatchObject({ maxFeePerGas: 0n, maxPriorityFeePerGas: 0n })
    expect(await ports.transactions.meetsCurrentFee(await replace())).toBe(true)
  })

  test.each([
    ['0x1', 2n],
    ['0x0', 1n],
  ])('with a balance, the replacement of a tip of %s pays %i', async (tip, paid) => {
    free('0x9')
    Object.assign(garbage, { eth_maxPriorityFeePerGas: tip })
    expect(await replace()).toMatchObject({ maxFeePerGas: paid, maxPriorityFeePerGas: paid })
  })

  test('an account without a balance is not ready where gas has a price', async () => {
    garbage = { eth_getBalance: '0x0' }
    await expect(ports.account.assertReady()).rejects.toThrow('has no funds for gas')
  })

  test('refuses a chain without a base fee', async () => {
    garbage = { eth_getBlockByNumber: { number: '0x5', hash: hash() } }
    await expect(ports.transactions.prepare(issues(1), { nonce: 0 })).rejects.toMatchObject({
      code: 'registry_refused',
      message: expect.stringContaining('have no baseFeePerGas'),
    })
    await expect(open()).rejects.toThrow('have no baseFeePerGas')
  })
})

describe('fees', () => {
  // The chain requires 7 wei and a tip of 1, so the offer is 15.
  const OFFER = 15n
  const one = BigInt(withMargin(26_000 + 25_000))

  test('sends fewer of several that could cost too much', async () => {
    const gas = BigInt(withMargin(base + each * 4))
    const four = (maxFee: bigint) => ports.transactions.prepare(issues(4), { nonce: 0, maxFee })
    expect(await four(gas * OFFER)).toMatchObject({ maxFeePerGas: OFFER })
    await expect(four(gas * OFFER - 1n)).rejects.toMatchObject({
      code: 'too_large',
    })
  })

  test('a single change offers its maximum fee, down to what the chain asks', async () => {
    const prepare = (maxFee: bigint) => ports.transactions.prepare(issues(1), { nonce: 0, maxFee })
    expect(await prepare(one * 8n)).toMatchObject({ maxFeePerGas: 8n })
    await expect(prepare(one * 8n - 1n)).rejects.toMatchObject({
      code: 'fee_too_high',
    })
  })

  test('makes no replacement above the cap', async () => {
    const [actions, nonce] = [issues(1), 0]
    const replaced = await ports.transactions.prepare(actions, { nonce })
    const maxFee = replaced.gasLimit * replaced.maxFeePerGas
    await expect(
      ports.transactions.prepare(actions, { nonce, maxFee, replaced }),
    ).rejects.toMatchObject({ code: 'fee_too_high' })
  })

  test('reports without a transaction whether one can be paid', async () => {
    await ports.transactions.assertAffordable()
    await ports.transactions.assertAffordable(0n)
    await ports.transactions.prepare(issues(1), { nonce: 0 })
    await ports.transactions.assertAffordable(51_000n * 8n)
    await expect(ports.transactions.assertAffordable(51_000n * 8n - 1n)).rejects.toMatchObject({
      code: 'fee_too_high',
    })
  })
})

test.each([-32000, -32603, -32015, 3])(
  'treats error %i of an estimate as a fault of the changes',
  async (code) => {
    failure = new RpcResponseError(code, 'unknown words', undefined)
    await expect(ports.transactions.prepare(issues(4), { nonce: 0 })).rejects.toMatchObject({
      code: 'registry_refused',
    })
  },
)

describe('receipts', () => {
  const topicOf = (name: string) => registryAbi.getEvent(name)?.topicHash
  const issued = topicOf('DocumentIssued')
  const [one, other] = [hash(), hash()]
  const transactionHash = hash()
  const blockHash = hash()
  const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`
  const log = (address: string, topic: unknown, documentHash: Hex, issuerId = ISSUER_ID) => ({
    address,
    topics: [topic, documentHash, word(issuerId)],
    data: '0x',
    transactionHash,
    blockHash,
    logIndex: '0x0',
  })
  const mined = (logs: unknown[], status = '0x1') => ({
    blockNumber: '0x10',
    blockHash,
    status,
    logs,
  })

  test("returns the issuer's documents in the registry's logs", async () => {
    receipt = mined([
      log(ADDRESS.toUpperCase().replace('0X', '0x'), issued, one),
      log(`0x${'cd'.repeat(20)}`, issued, other),
      log(ADDRESS, hash(), other),
      log(ADDRESS, issued, other, ISSUER_ID + 1),
    ])
    expect(await ports.registry.receiptOf(transactionHash)).toEqual({
      blockNumber: 16,
      blockHash,
      succeeded: true,
      issued: new Set([one]),
      revised: new Map(),
    })
  })

  test('returns what was revoked, suspended and released, with its reason', async () => {
    const [alone, inBatch, batch, released] = [hash(), hash(), hash(), hash()]
    const revoked = (name: string, key: Hex, reason: number, issuerId = ISSUER_ID) => ({
      ...log(ADDRESS, topicOf(name), key, issuerId),
      data: `${word(7)}${word(reason).slice(2)}`,
    })
    receipt = mined([
      revoked('DocumentRevoked', alone, 1),
      revoked('DocumentInBatchRevoked', inBatch, 6),
      revoked('BatchRevoked', batch, 10),
      log(ADDRESS, topicOf('DocumentReleased'), released),
      revoked('DocumentRevoked', other, 1, ISSUER_ID + 1),
    ])
    const { revised } = (await ports.registry.receiptOf(transactionHash)) ?? {}
    expect(revised).toEqual(
      new Map([
        [alone, 1],
        [inBatch, 6],
        [batch, 10],
        [released, 8],
      ]),
    )
  })

  test('returns none of a failed transaction', async () => {
    receipt = mined([], '0x0')
    const { succeeded } = (await ports.registry.receiptOf(transactionHash)) ?? {}
    expect(succeeded).toBe(false)
  })

  test.each([
    ['none', null],
    ['of no block yet', { ...mined([log(ADDRESS, issued, one)]), blockHash: null }],
  ])('returns nothing when there is %s', async (_, answer) => {
    receipt = answer
    expect(await ports.registry.receiptOf(transactionHash)).toBeUndefined()
  })

  const good = log(ADDRESS, issued, one)
  test.each<[string, unknown]>([
    ['a text', 'pending'],
    ['false', false],
    ['a list', []],
    ['a receipt without logs', { ...mined([]), logs: undefined }],
    ['a receipt without the number', { ...mined([]), blockNumber: undefined }],
    ['a receipt without a status', { ...mined([]), status: undefined }],
    ['a number with leading zeros', { ...mined([]), blockNumber: '0x01' }],
    ['a short hash', { ...mined([]), blockHash: '0x1' }],
    ['a log that is null', mined([null])],
    ['a log of no address', mined([{ ...good, address: null }])],
    ['a log whose topics are a text', mined([{ ...good, topics: 'topics' }])],
    ['a log whose topic is a number', mined([{ ...good, topics: [1] }])],
    ['a log whose logIndex is true', mined([{ ...good, logIndex: true }])],
    ['a revocation without a reason', mined([log(ADDRESS, topicOf('DocumentRevoked'), one)])],
  ])('refuses %s', async (_, answer) => {
    receipt = answer
    await expect(ports.registry.receiptOf(transactionHash)).rejects.toMatchObject({
      code: 'chain_unavailable',
    })
  })
})

describe('malformed answers', () => {
  const NOT_QUANTITIES = [
    null,
    true,
    5,
    '',
    '5',
    '0x',
    '0x05',
    '0XA',
    '0xg',
    {},
    [],
    `0x1${'0'.repeat(64)}`,
  ]
  const asks: Record<string, () => Promise<unknown>> = {
    eth_chainId: () => ports.account.assertReady(),
    eth_getBalance: () => ports.account.assertReady(),
    eth_getTransactionCount: () => ports.account.nextNonce(),
    eth_maxPriorityFeePerGas: () => ports.transactions.prepare(issues(1), { nonce: 0 }),
    eth_estimateGas: () => ports.transactions.prepare(issues(1), { nonce: 0 }),
  }

  test.each(Object.keys(asks))('refuses anything but a quantity as %s', async (method) => {
    for (const answer of NOT_QUANTITIES) {
      garbage = { [method]: answer }
      await expect(asks[method]?.()).rejects.toMatchObject({
        code: 'chain_unavailable',
      })
    }
  })

  test('refuses a nonce over 53 bits, which a number cannot hold exactly', async () => {
    garbage = { eth_getTransactionCount: '0x20000000000000' }
    await expect(ports.account.nextNonce()).rejects.toMatchObject({
      code: 'chain_unavailable',
    })
  })

  test('refuses a block without hash or fee', async () => {
    for (const block of [true, 'x', {}, { hash: null }, { hash: '0x1' }]) {
      garbage = { eth_getBlockByNumber: block }
      await expect(ports.blocks.blockHash(1)).rejects.toMatchObject({
        code: 'chain_unavailable',
      })
      await expect(ports.transactions.prepare(issues(1), { nonce: 0 })).rejects.toMatchObject({
        code: 'chain_unavailable',
      })
    }
    garbage = { eth_getBlockByNumber: null }
    expect(await ports.blocks.blockHash(1)).toBeNull()
  })

  test('refuses logs that are not logs', async () => {
    for (const logs of [null, {}, 'x', [null], [{}]]) {
      garbage = { eth_getLogs: logs }
      await expect(ports.registry.transactionsOf('issued', 1)).rejects.toMatchObject({
        code: 'chain_unavailable',
      })
    }
  })

  test('refuses records with a value over its width', async () => {
    const record = [0n, 1n, 1n, 0n, 0n, 0n, 0n, 0n, 0n]
    const encode = (words: bigint[]) =>
      `0x${[32n, 1n, ...words].map((word) => word.toString(16).padStart(64, '0')).join('')}`
    const widths = [16n, 40n, 40n, 40n, 16n, 40n, 40n, 8n, 1n]
    for (const [i, bits] of widths.entries()) {
      garbage = { eth_call: encode(record.with(i, 2n ** bits)) }
      await expect(ports.registry.records([key()])).rejects.toMatchObject({
        code: 'chain_unavailable',
      })
    }
  })
})

describe('records', () => {
  const recordAt = (anchoredBlock: number, accountIndex = 1) => ({
    accountIndex,
    anchoredBlock,
    anchoredAt: 1,
    validUntil: 0,
    revokerIndex: 0,
    revokedBlock: 0,
    revokedAt: 0,
    reason: 0,
    setAside: false,
  })

  test('a trusted account has no distrusted record', async () => {
    records = [recordAt(9), recordAt(0)]
    const read = await ports.registry.records([key(), key()])
    expect(read.map(({ distrusted }) => distrusted)).toEqual([false, false])
  })

  test('records are distrusted from the given block on', async () => {
    account.distrustedFrom = 9
    records = [recordAt(8), recordAt(9), recordAt(10), recordAt(0)]
    const read = await ports.registry.records(records.map(key))
    expect(read.map(({ distrusted }) => distrusted)).toEqual([false, true, true, false])
  })

  test('returns from which block the last revoker is distrusted', async () => {
    account.distrustedFrom = 9
    const revoked = { ...recordAt(8), revokerIndex: 2, revokedBlock: 9 }
    // Of a document in a batch, the record has a revocation only.
    records = [recordAt(8), revoked, { ...revoked, anchoredBlock: 0, accountIndex: 0 }]
    const read = await ports.registry.records(records.map(key))
    const distrusted = { distrustedFrom: 9 }
    expect(read.map(({ revoker }) => revoker)).toEqual([null, distrusted, distrusted])
  })

  test('reads each account once', async () => {
    const revoked = { ...recordAt(10, 2), revokerIndex: 1, revokedBlock: 11 }
    records = [recordAt(8, 1), recordAt(9, 2), revoked]
    calls = []
    await ports.registry.records(records.map(key))
    expect(calls).toEqual(['recordsOf', 'accountAt', 'accountAt'])
  })
})

describe('readiness', () => {
  test('reports the balance, and that the account may revoke', async () => {
    expect(await ports.account.assertReady()).toEqual({
      balance: 0xffffffffffn,
      mayIssue: true,
      mayRevoke: true,
    })
  })

  test('a closed issuer is ready to revoke', async () => {
    issuer.closedBlock = 9
    const { mayIssue, mayRevoke } = await ports.account.assertReady()
    expect({ mayIssue, mayRevoke }).toEqual({
      mayIssue: false,
      mayRevoke: true,
    })
  })

  test('an account without REVOKE is ready to issue', async () => {
    account.permissions = 1
    expect((await ports.account.assertReady()).mayRevoke).toBe(false)
  })

  test.each<[string, () => void]>([
    ['an account of no such issuer', () => (account.addedBlock = 0)],
    ['an account without ISSUE', () => (account.permissions = 2 | 4 | 8)],
    ['a retired account', () => Object.assign(account, { permissions: 0, retiredBlock: 9 })],
    ['an issuer that is not there', () => (issuer.accountCount = 0)],
  ])('refuses %s', async (_, change) => {
    change()
    await expect(ports.account.assertReady()).rejects.toMatchObject({
      code: 'registry_refused',
    })
  })
})
