import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createDeadline, verifyWithin } from '#base/deadline.ts'
import { createRpcPool } from '#chain/rpc.ts'
import type { BlockRead } from '#verifier/ports.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { verify } from '#verifier/verify.ts'
import { isCallOf } from '../support/registry-call.ts'
import { startRpcProxy } from '../support/rpc-proxy.ts'
import { ADA, type Answer, API_KEY, type Stack, startStack } from '../support/stack.ts'

// A node that accepts calls and never answers, like a hung process.

const WAIT = 2_000
/**
 * Maximum duration of an answer: what a single call to the node may take; milliseconds. Nothing
 * shorter, because a busy machine is slow.
 */
const LIMIT = 30_000

const authorization = `Bearer ${API_KEY}`
let stack: Stack
beforeAll(async () => {
  stack = await startStack({
    WAIT_SECONDS: String(WAIT / 1000),
    RPC_TIMEOUT_SECONDS: String(LIMIT / 1000),
  })
})
afterEach(async () => {
  release()
  await expect.poll(async () => (await stack.request('/readyz')).status).toBe(200)
})
afterAll(() => stack.stop())

const get = (path: string) => stack.request(path, { headers: { authorization } })

const post = (path: string, body: object, headers: object = {}) =>
  stack.request(path, {
    method: 'POST',
    headers: {
      authorization,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
  })

const issue = async (headers: Record<string, string> = {}): Promise<string> =>
  (await stack.issue(ADA, headers)).body.data.publicId

let release = () => {}
/** Makes the node ignore these calls until `release`, which lets them through. */
const hang = (hangs: (method: string, params: unknown[]) => boolean) => {
  const held = Promise.withResolvers<boolean>()
  stack.proxy.refuse = (...call) => (hangs(...call) ? held.promise : false)
  release = () => {
    stack.proxy.refuse = () => false
    held.resolve(false)
  }
}

async function timed(answer: Promise<Answer>): Promise<Answer> {
  const began = performance.now()
  const told = await answer
  expect(performance.now() - began).toBeLessThan(LIMIT)
  return told
}

const becomes = (publicId: string, status: string) =>
  expect.poll(async () => (await stack.verify(publicId)).body.data?.status).toBe(status)

const CHAIN_UNKNOWN = [{ check: 'chain', outcome: 'unknown', code: 'rpc_unreachable' }]

describe('before a promise', () => {
  test.each<[string, (publicId: string) => Promise<Answer>]>([
    ['verify', (publicId) => stack.verify(publicId)],
    ['verify with a proof', (publicId) => get(`/v1/verify?publicId=${publicId}&proof=full`)],
    ['a document', (publicId) => get(`/v1/documents/${publicId}`)],
    ['a bundle', (publicId) => get(`/v1/documents/${publicId}/bundle`)],
  ])('%s is unverifiable in time', async (_, ask) => {
    const publicId = await issue()
    hang(() => true)
    const { status, headers, body } = await timed(ask(publicId))
    expect(status).toBe(503)
    expect(headers.get('retry-after')).toBeTruthy()
    expect(body.error).toMatchObject({
      code: 'unverifiable',
      details: CHAIN_UNKNOWN,
    })
  })

  test('refuses in time a repeat that may be on the chain', async () => {
    const headers = { 'idempotency-key': 'hung' }
    hang(() => true)
    const refused = await timed(stack.issue(ADA, headers))
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBeTruthy()
    expect(refused.body.error.code).toBe('chain_unavailable')
    release()
    expect((await stack.issue(ADA, headers)).status).toBe(201)
  })

  test.each(['', 'respond-async'])('refuses a revocation in time, prefer: %s', async (prefer) => {
    const publicId = await issue()
    hang(() => true)
    const { status, headers, body } = await timed(
      post(`/v1/documents/${publicId}/revoke`, {}, { prefer }),
    )
    expect(status).toBe(503)
    expect(headers.get('retry-after')).toBeTruthy()
    expect(body.error.code).toBe('chain_unavailable')
    release()
    await becomes(publicId, 'valid')
  })
})

describe('after a promise', () => {
  test('answers 202 in time for a document', async () => {
    hang(() => true)
    const { status, body } = await timed(stack.issue(ADA))
    expect(status).toBe(202)
    release()
    await becomes(body.data.publicId, 'valid')
  })

  test('answers 202 in time for a revocation', async () => {
    const publicId = await issue()
    hang((method) => method === 'eth_sendRawTransaction')
    const { status, body } = await timed(
      post(`/v1/documents/${publicId}/revoke`, { reason: 'keyCompromise' }),
    )
    expect(status).toBe(202)
    expect(body.data).toMatchObject({
      status: 'pending',
      reason: 'keyCompromise',
    })
    release()
    await becomes(publicId, 'revoked')
  })

  test('completes a revocation whose event cannot be read', async () => {
    const publicId = await issue()
    hang((method) => method === 'eth_getLogs')
    const { status, body } = await timed(post(`/v1/documents/${publicId}/revoke`, {}))
    expect(status).toBe(200)
    expect(body.data).toMatchObject({
      status: 'revoked',
      blockchainHash: null,
    })
  })

  test('answers 202 in time for a repeat whose status cannot be read', async () => {
    const headers = { 'idempotency-key': 'status-hangs' }
    const publicId = await issue(headers)
    // The record is read before; the gateway also reads records on its own.
    hang((method, params) => isCallOf('verificationOf', { method, params }))
    const { status, body } = await timed(stack.issue(ADA, headers))
    expect(status).toBe(202)
    expect(body.data.publicId).toBe(publicId)
  })

  test('answers 202 in time for a document whose finality cannot be read', async () => {
    const fields = { ...ADA, subjectId: '2' }
    const asked = stack.proxy.asked.length
    const sent = () => stack.proxy.asked.slice(asked).includes('eth_getTransactionReceipt')
    hang((method) => method === 'eth_getBlockByNumber' && sent())
    const { status, body } = await timed(post('/v1/documents?wait=finalized', fields))
    expect(status).toBe(202)
    expect(body.data).toMatchObject({ status: 'valid', finality: null })
  })
})

test('an event that hangs does not delay the verdict', async () => {
  const publicId = await issue()
  hang((method) => method === 'eth_getLogs')
  const { status, body } = await timed(stack.verify(publicId))
  expect(status).toBe(200)
  expect(body.data.valid).toBe(true)
  expect(body.data.checks).toContainEqual({
    check: 'event',
    outcome: 'unknown',
    code: 'unreachable',
  })
})

test('reports a revocation although the payload hangs', async () => {
  const publicId = await issue()
  await post(`/v1/documents/${publicId}/revoke`, {})
  const options = {
    chain: createChainReader(stack.provider, stack.registry),
    blocks: [{ get: () => new Promise<BlockRead>(() => {}) }],
  }
  const verdict = await verify(publicId, verifyWithin(createDeadline(500), options))
  expect(verdict.status).toBe('revoked')
  expect(verdict.checks).toContainEqual({
    check: 'payload',
    outcome: 'unknown',
    code: 'unreachable',
  })
})

test('asks no further endpoint after the deadline', async () => {
  const hung = await startRpcProxy(stack.chainUrl)
  const other = await startRpcProxy(stack.chainUrl)
  hung.refuse = () => new Promise(() => {})
  const pool = createRpcPool([hung.url, other.url], 500)
  const read = createDeadline(200).within((signal) =>
    pool.request({ method: 'eth_chainId', signal }),
  )
  await expect(read).rejects.toMatchObject({ code: 'rpc_unreachable' })
  // Longer than the first endpoint's own timeout.
  await sleep(1_000)
  // The gateway reads the head regardless of requests.
  expect(other.asked).not.toContain('eth_chainId')
  await pool.close()
  await Promise.all([hung.close(), other.close()])
})
