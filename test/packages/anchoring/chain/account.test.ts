import { describe, expect, test } from 'vitest'
import { createAccount } from '#chain/account.ts'
import { createChainCalls } from '#chain/chain-calls.ts'
import type { Hex } from '#document/hex.ts'
import { RpcResponseError } from '#verifier/errors.ts'

const REGISTRY = `eip155:31337:0x${'12'.repeat(20)}` as const
const ADDRESS: Hex = '0xabCDEF0000000000000000000000000000000001'
const HEAD = 1_000
const hashOf = (nonce: number): Hex => `0x${String(nonce).padStart(64, '0')}`

/**
 * A chain with a transaction of the account in every tenth block, beside one of somebody else.
 *
 * @param states Newest blocks whose state the node has.
 * @param changes What it answers in place of the truth, by method.
 */
function open(states = HEAD + 1, changes: Record<string, unknown> = {}) {
  let calls = 0
  const noSigner = async () => Promise.reject(new Error('not called'))
  const ready = async () => {}
  const answers: Record<string, (params: readonly unknown[]) => unknown> = {
    eth_blockNumber: () => `0x${HEAD.toString(16)}`,
    eth_getTransactionCount([, block]) {
      if (Number(block) <= HEAD - states)
        throw new RpcResponseError(-32000, 'missing trie node', undefined)
      return `0x${Math.floor(Number(block) / 10).toString(16)}`
    },
    eth_getBlockByNumber: ([block]) => ({
      transactions: [
        { from: `0x${'99'.repeat(20)}`, nonce: '0x1', hash: hashOf(0) },
        ...(Number(block) % 10 === 0 ? [ownIn(Number(block) / 10 - 1)] : []),
      ],
    }),
  }
  const ownIn = (nonce: number) => ({
    from: ADDRESS.toLowerCase(),
    nonce: `0x${nonce.toString(16)}`,
    hash: hashOf(nonce),
  })
  const provider = {
    async request({ method, params = [] }: { method: string; params?: readonly unknown[] }) {
      calls++
      return method in changes ? changes[method] : answers[method]?.(params)
    },
  }
  const account = createAccount(createChainCalls(provider, `0x${'12'.repeat(20)}`), {
    registry: REGISTRY,
    chainId: 31337,
    issuerId: 1,
    signer: { address: ADDRESS, assertReady: ready, sign: noSigner },
  })
  return { ...account, calls: () => calls }
}

describe('the transaction that used a nonce', () => {
  test('is found in its block', async () => {
    const { transactionWith } = open()
    for (const nonce of [99, 98, 97, 50, 1, 0])
      expect(await transactionWith(nonce)).toBe(hashOf(nonce))
  })

  test('is found with as many calls as the block number has binary digits', async () => {
    const { transactionWith, calls } = open()
    await transactionWith(3)
    expect(calls()).toBeLessThan(25)
  })

  test('is found by a node that keeps the state of the last 128 blocks', async () => {
    const { transactionWith } = open(128)
    for (const nonce of [99, 95, 88]) expect(await transactionWith(nonce)).toBe(hashOf(nonce))
  })

  test('is unknown for an unused nonce', async () => {
    expect(await open().transactionWith(100)).toBeUndefined()
  })

  test('is unknown without the state of that block', async () => {
    await expect(open(128).transactionWith(10)).rejects.toMatchObject({ code: 'chain_unavailable' })
  })

  test('is unknown when a node has used it in its first block', async () => {
    const { transactionWith } = open(HEAD + 1, { eth_getTransactionCount: '0x5' })
    expect(await transactionWith(4)).toBeUndefined()
  })

  test.each([
    null,
    {},
    { transactions: 'x' },
    { transactions: [null] },
    { transactions: [{ from: ADDRESS }] },
    { transactions: [{ from: ADDRESS, nonce: '0x4', hash: '0x1' }] },
  ])('refuses the block %j', async (block) => {
    const { transactionWith } = open(HEAD + 1, { eth_getBlockByNumber: block })
    await expect(transactionWith(4)).rejects.toMatchObject({ code: 'chain_unavailable' })
  })
})

test('refuses an account with code (EIP-7702)', async () => {
  const { assertReady } = open(HEAD + 1, { eth_getCode: `0xef0100${'34'.repeat(20)}` })
  await expect(assertReady()).rejects.toMatchObject({
    code: 'registry_refused',
    message: expect.stringContaining('has code'),
  })
})
