import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { ADA, type Answer, API_KEY, type Stack, startStack } from '../support/stack.ts'

let stack: Stack
let issued: Answer['body']['data']
const authorization = `Bearer ${API_KEY}`
const KEY = { 'idempotency-key': 'kept' }
beforeAll(async () => {
  stack = await startStack()
  const { status, body } = await stack.issue(ADA, KEY)
  expect(status).toBe(201)
  issued = body.data
  // Until it is final: only then is an event that is missing one that was forgotten.
  const isFinal = async () => expect(await finality()).toBe('finalized')
  await vi.waitFor(isFinal, { timeout: 120_000, interval: 250 })
})
afterAll(() => stack.stop())
afterEach(() => {
  stack.proxy.fail = () => undefined
  stack.proxy.change = (_, result) => result
})

async function finality(): Promise<unknown> {
  const { body } = await stack.verify(issued.publicId)
  return body.data.blockchainProof.finality
}

const retrieve = () =>
  stack.request(`/v1/documents/${issued.publicId}`, {
    headers: { authorization },
  })

describe.each([
  [
    'refuses old logs',
    'pruned',
    () => {
      stack.proxy.fail = (method) =>
        method === 'eth_getLogs' ? { code: 4444, message: 'pruned history unavailable' } : undefined
    },
  ],
  [
    'has no old logs and does not say so',
    'missing',
    () => {
      stack.proxy.change = (method, result) => (method === 'eth_getLogs' ? [] : result)
    },
  ],
])('a node that %s', (_, code, forget) => {
  test('answers with the blockchainHash that the gateway kept', async () => {
    forget()
    const { blockchainHash } = issued
    expect(blockchainHash).toMatch(/^0x[0-9a-f]{64}$/)
    const verified = await stack.verify(issued.publicId)
    expect(verified.body.data).toMatchObject({
      status: 'valid',
      document: { blockchainHash },
      blockchainProof: { transactionHash: blockchainHash },
      checks: expect.arrayContaining([{ check: 'event', outcome: 'unknown', code }]),
    })
    expect((await retrieve()).body.data).toMatchObject({
      status: 'valid',
      blockchainHash,
      blockchainProof: { transactionHash: blockchainHash },
    })
  })

  test('answers a repeat with it too', async () => {
    forget()
    const { status, headers, body } = await stack.issue(ADA, KEY)
    expect(status).toBe(201)
    expect(headers.get('idempotency-replayed')).toBe('true')
    expect(body.data).toEqual(issued)
  })
})
