import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { registryAbi } from '#base/registry-abi.ts'
import { isCallOf } from '../support/registry-call.ts'
import { ADA, type Stack, startStack } from '../support/stack.ts'

let stack: Stack
beforeAll(async () => {
  // Less, and a busy machine answers 202 where it could have been 201.
  stack = await startStack({ WAIT_SECONDS: '10' })
})
afterEach(() => {
  stack.proxy.refuse = () => false
  stack.proxy.change = (_, result) => result
})
afterAll(() => stack.stop())

async function issuedEvents(): Promise<number> {
  const logs = await stack.provider.request({
    method: 'eth_getLogs',
    params: [{ fromBlock: '0x0', topics: [registryAbi.getEvent('DocumentIssued')?.topicHash] }],
  })
  return (logs as unknown[]).length
}

const ready = async () => (await stack.request('/readyz')).status

describe('the chain is down', () => {
  test('verify reports that it could not check', async () => {
    const { publicId } = (await stack.issue(ADA)).body.data
    stack.proxy.refuse = () => true
    const { status, headers, body } = await stack.verify(publicId)
    expect(status).toBe(503)
    expect(headers.get('retry-after')).toBeTruthy()
    expect(body.error).toMatchObject({
      code: 'unverifiable',
      details: [{ check: 'chain', outcome: 'unknown', code: 'rpc_unreachable' }],
    })
    stack.proxy.refuse = () => false
    expect((await stack.verify(publicId)).body.data.status).toBe('valid')
  })

  test('keeps what it accepted, and refuses new requests', async () => {
    const before = await issuedEvents()
    stack.proxy.refuse = () => true
    // Nobody knows of the outage yet.
    const started = performance.now()
    const accepted = await stack.issue(ADA)
    expect([accepted.status, accepted.body.data.status]).toEqual([202, 'pending'])
    // It is answered at once, not at the end of its wait of ten seconds.
    expect(performance.now() - started).toBeLessThan(8_000)
    const refused = await stack.issue(ADA)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBeTruthy()
    expect(refused.body.error.code).toBe('chain_unavailable')
    expect(await ready()).toBe(503)
    stack.proxy.refuse = () => false
    await expect.poll(ready).toBe(200)
    const retried = await stack.issue(ADA)
    expect(retried.status).toBe(201)
    const { publicId } = accepted.body.data
    await expect.poll(async () => (await stack.verify(publicId)).body.data?.status).toBe('valid')
    expect(await issuedEvents()).toBe(before + 2)
  })

  test('keeps the promise when the node is lost between signing and block', async () => {
    const before = await issuedEvents()
    stack.proxy.refuse = (method) => method === 'eth_sendRawTransaction'
    const pending = await stack.issue(ADA)
    expect(pending.status).toBe(202)
    const { publicId, blockchainHash } = pending.body.data
    expect(blockchainHash).toMatch(/^0x[0-9a-f]{64}$/)
    expect((await stack.verify(publicId)).body.data).toMatchObject({
      valid: false,
      status: 'pending',
    })
    stack.proxy.refuse = () => false
    await expect.poll(async () => (await stack.verify(publicId)).body.data?.status).toBe('valid')
    expect(await issuedEvents()).toBe(before + 1)
  })

  test('does not double a document when the answer to a broadcast is lost', async () => {
    const before = await issuedEvents()
    let lost = 0
    stack.proxy.change = (method, result) => {
      if (method !== 'eth_sendRawTransaction') return result
      lost++
      return undefined
    }
    const { status, body } = await stack.issue(ADA)
    expect([201, 202]).toContain(status)
    await expect
      .poll(async () => {
        const { data } = (await stack.verify(body.data.publicId)).body
        return data.status
      })
      .toBe('valid')
    expect(lost).toBeGreaterThan(0)
    expect(await issuedEvents()).toBe(before + 1)
  })
})

describe('a lying node', () => {
  test.each([['another chain', 'wrong_chain', (v: unknown[]) => [1n, ...v.slice(1)]]])(
    '%s',
    async (_, code, change) => {
      const { publicId } = (await stack.issue(ADA)).body.data
      stack.proxy.change = (method, result, params) => {
        if (!isCallOf('verificationOf', { method, params })) return result
        const [v] = registryAbi.decodeFunctionResult('verificationOf', String(result))
        return registryAbi.encodeFunctionResult('verificationOf', [change([...v])])
      }
      const { status, body } = await stack.verify(publicId)
      expect(status).toBe(503)
      expect(body.error.details[0].code).toBe(code)
    },
  )

  test.each([
    ['no contract at the address', '0x'],
    ['garbage', '0x1234'],
    ['no text', 5],
  ])('%s', async (_, answer) => {
    const { publicId } = (await stack.issue(ADA)).body.data
    stack.proxy.change = (method, result) => (method === 'eth_call' ? answer : result)
    const { status, body } = await stack.verify(publicId)
    expect(status).toBe(503)
    expect(body.error.details[0].code).toBe('no_registry')
  })

  test.each([
    ['pruned logs', 'missing', () => []],
    [
      'a log that contradicts the record',
      'contradicts',
      (logs: unknown) =>
        (logs as { data: string }[]).map((log) => ({
          ...log,
          data: registryAbi.encodeEventLog('DocumentIssued', [
            `0x${'1'.repeat(64)}`,
            1,
            `0x${'2'.repeat(40)}`,
            0,
          ]).data,
        })),
    ],
  ])('%s is unknown, and does not block valid', async (_, code, change) => {
    const { publicId, blockchainHash } = (await stack.issue(ADA)).body.data
    stack.proxy.change = (method, result) => (method === 'eth_getLogs' ? change(result) : result)
    const { data } = (await stack.verify(publicId)).body
    expect(data.valid).toBe(true)
    expect(data.checks).toContainEqual({
      check: 'event',
      outcome: 'unknown',
      code,
    })
    // The gateway keeps what it anchored.
    expect(data.blockchainProof.transactionHash).toBe(blockchainHash)
  })
})

test('decides a verdict with one eth_call and one eth_getLogs', async () => {
  const issued = await Promise.all(Array.from({ length: 8 }, () => stack.issue(ADA)))
  const publicIds = issued.map(({ body }) => body.data.publicId)
  // The gateway's own looks at the chain fall into the same moment now and then, not each time.
  const callsOfVerdict = async () => {
    const from = stack.proxy.asked.length
    await stack.verify(publicIds.pop())
    return stack.proxy.asked.slice(from).filter((method) => /^eth_(call|getLogs)$/.test(method))
  }
  await expect.poll(callsOfVerdict, { interval: 700 }).toEqual(['eth_call', 'eth_getLogs'])
})
