import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { registryAbi } from '#base/registry-abi.ts'
import { isCallOf } from '../support/registry-call.ts'
import { ADA, type Stack, startStack } from '../support/stack.ts'

const REVERTED = { code: 3, message: 'execution reverted' }

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ WAIT_SECONDS: '2' })
})
afterEach(() => {
  stack.proxy.refuse = () => false
  stack.proxy.fail = () => undefined
  stack.proxy.change = (_, result) => result
})
afterAll(() => stack.stop())

const statusOf = async (publicId: string) => {
  const { body } = await stack.verify(publicId)
  return body.data.status ?? body.error.code
}

const becomesValid = (publicId: string) =>
  expect.poll(() => statusOf(publicId), { interval: 100 }).toBe('valid')

/** Answers like this once to a method, then no more. */
function once<T>(method: string, answer: T): (asked: string) => T | undefined {
  let left = 1
  return (asked) => (asked === method && left-- > 0 ? answer : undefined)
}

describe('promises are kept', () => {
  test('for a change that one node refuses at times', async () => {
    stack.proxy.fail = once('eth_estimateGas', REVERTED)
    const { status, body } = await stack.issue(ADA, {
      prefer: 'respond-async',
    })
    expect(status).toBe(202)
    await becomesValid(body.data.publicId)
  })

  test('for a change that is refused for long, while others continue', async () => {
    stack.proxy.fail = once('eth_estimateGas', REVERTED)
    const promised = await stack.issue(ADA, { prefer: 'respond-async' })
    const others = await Promise.all([stack.issue(ADA), stack.issue(ADA)])
    for (const { status } of others) expect(status).toBe(201)
    await becomesValid(promised.body.data.publicId)
  })

  test('rebuilds a transaction that no node accepts', async () => {
    const intrinsic = { code: -32000, message: 'intrinsic gas too low' }
    stack.proxy.fail = (method) => (method === 'eth_sendRawTransaction' ? intrinsic : undefined)
    const { body } = await stack.issue(ADA)
    expect(body.data.status).toBe('pending')
    stack.proxy.fail = () => undefined
    await becomesValid(body.data.publicId)
    // It was in a block a moment before the gateway knew.
    await expect.poll(async () => (await stack.issue(ADA)).status).toBe(201)
  })

  test('does not raise the fee of a transaction that no node accepted', async () => {
    const poor = { code: -32000, message: 'insufficient funds for gas' }
    const request = <T>(method: string, ...params: unknown[]) =>
      stack.provider.request({ method, params }) as Promise<T>
    const tip = await request<string>('eth_maxPriorityFeePerGas')
    const { baseFeePerGas } = await request<{ baseFeePerGas: string }>(
      'eth_getBlockByNumber',
      'latest',
      false,
    )
    stack.proxy.fail = (method) => (method === 'eth_sendRawTransaction' ? poor : undefined)
    const { body } = await stack.issue(ADA)
    expect(body.data.status).toBe('pending')
    // Long enough for two new attempts, were they made.
    await new Promise((resolve) => setTimeout(resolve, 11_000))
    stack.proxy.fail = () => undefined
    await becomesValid(body.data.publicId)
    const { data } = (await stack.verify(body.data.publicId)).body
    const { maxFeePerGas, maxPriorityFeePerGas } = await request<Record<string, string>>(
      'eth_getTransactionByHash',
      data.blockchainProof.transactionHash,
    )
    expect(Number(maxPriorityFeePerGas)).toBeLessThanOrEqual(Number(tip))
    expect(Number(maxFeePerGas)).toBeLessThanOrEqual(2 * Number(baseFeePerGas) + Number(tip))
  })

  test('ignores an impossible estimate', async () => {
    stack.proxy.change = (method, result) => (method === 'eth_estimateGas' ? '0x5' : result)
    const { status, body } = await stack.issue(ADA)
    expect(status).toBe(202)
    expect((await stack.issue(ADA)).status).toBe(503)
    stack.proxy.change = (_, result) => result
    await expect.poll(async () => (await stack.issue(ADA)).status).toBe(201)
    await becomesValid(body.data.publicId)
  })
})

describe('a node that contradicts itself, or is behind', () => {
  test.each([
    ['no receipt', () => null],
    ['a receipt without logs', () => ({})],
    ['a receipt with none of its logs', (receipt: object) => ({ ...receipt, logs: [] })],
  ])('%s, but records and events', async (_, change) => {
    stack.proxy.change = (method, result) =>
      method === 'eth_getTransactionReceipt' ? change(result as object) : result
    const { status, body } = await stack.issue(ADA)
    expect(status).toBe(201)
    const { logs, status: mined } = (await stack.provider.request({
      method: 'eth_getTransactionReceipt',
      params: [body.data.blockchainHash],
    })) as { logs: { topics: string[] }[]; status: string }
    expect(mined).toBe('0x1')
    expect(logs.map(({ topics }) => topics[1])).toContain(body.data.documentHash)
  })

  test.each([
    ['revoked, beside a record that is not', 4, {}],
    ['not issued, beside a record', 0, {}],
    ['valid, beside no record', 1, { anchoredBlock: 0n }],
    ['expired, beside one that never expires', 2, {}],
    ['unknown', 9, {}],
  ])('%s', async (_, status, change) => {
    const { publicId } = (await stack.issue(ADA)).body.data
    stack.proxy.change = (method, result, params) => {
      if (!isCallOf('verificationOf', { method, params })) return result
      const [answer] = registryAbi.decodeFunctionResult('verificationOf', String(result))
      const verification = answer.toObject()
      const record = { ...answer.record.toObject(), ...change }
      return encode({ ...verification, status, record })
    }
    expect(await statusOf(publicId)).toBe('unverifiable')
  })

  test('refuses a head older than a block that this gateway has seen', async () => {
    const { publicId } = (await stack.issue(ADA)).body.data
    stack.proxy.change = (method, result, params) => {
      if (!isCallOf('verificationOf', { method, params })) return result
      const [answer] = registryAbi.decodeFunctionResult('verificationOf', String(result))
      const none = Object.fromEntries(
        Object.keys(answer.record.toObject()).map((name) => [name, 0n]),
      )
      return encode({ ...answer.toObject(), status: 0, record: none })
    }
    expect(await statusOf(publicId)).toBe('unverifiable')
  })

  /**
   * ABI-encodes a Verification that may be nonsense: ethers would not encode an unknown status by
   * name.
   */
  function encode(verification: Record<string, unknown>): string {
    const fragment = registryAbi.getFunction('verificationOf')
    const [output] = fragment?.outputs ?? []
    const names = output?.components?.map(({ name }) => name) ?? []
    return registryAbi.encodeFunctionResult('verificationOf', [
      names.map((name) => verification[name]),
    ])
  }
})

test('a damaged file of keys locks nobody out', async () => {
  const { publicId } = (await stack.issue(ADA)).body.data
  const path = join(stack.dataDir, 'keys.db')
  writeFileSync(path, 'not a database')
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  expect(await statusOf(publicId)).toBe('valid')
})
