import { setTimeout as sleep } from 'node:timers/promises'
import { Wallet } from 'ethers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import type { Hex } from '#document/hex.ts'
import { decodePublicId, encodePublicId } from '#document/public-id.ts'
import { describeDatabases } from '../support/databases.ts'
import { addAccount, endRefusals, inTheNameOf, revise } from '../support/revise.ts'
import { ADA, API_KEY, type Stack, startStack } from '../support/stack.ts'
import { transact } from '../support/transact.ts'

const NEVER_ISSUED = golden.documents[0]?.publicId ?? ''

describeDatabases('lifecycle', (settings) => {
  let stack: Stack
  beforeAll(async () => {
    stack = await startStack({ WAIT_SECONDS: '2', ...(await settings()) })
  })
  afterEach(() => endRefusals(stack))
  afterAll(() => stack.stop())

  const authorization = `Bearer ${API_KEY}`
  const get = (publicId: string) =>
    stack.request(`/v1/documents/${publicId}`, { headers: { authorization } })

  describe('GET /v1/documents/{publicId}', () => {
    test('returns the document as it was issued, with its proof', async () => {
      const issued = (await stack.issue(ADA)).body.data
      const { status, body } = await get(issued.publicId)
      expect(status).toBe(200)
      const { blockchainProof, createdAt, ...document } = body.data
      expect(document).toEqual(issued)
      expect(createdAt).toMatch(/Z$/)
      expect(blockchainProof.transactionHash).toBe(issued.blockchainHash)
    })

    test('returns it while it is pending', async () => {
      stack.proxy.refuse = (method) => method === 'eth_sendRawTransaction'
      const issued = (await stack.issue(ADA)).body.data
      expect(issued.status).toBe('pending')
      const { status, body } = await get(issued.publicId)
      expect(status).toBe(200)
      expect(body.data).toMatchObject({ ...ADA, issuedAt: issued.issuedAt })
      expect(body.data.status).toBe('pending')
      const { hash } = decodePublicId(issued.publicId)
      const documentKey = new Uint8Array(16)
      const wrong = encodePublicId({
        kind: 'single',
        issuerId: 1,
        hash,
        documentKey,
      })
      expect((await get(wrong)).status).toBe(404)
      const foreign = inTheNameOf(2, issued.publicId)
      expect((await get(foreign)).status).toBe(404)
      expect((await stack.verify(foreign)).body.data.status).toBe('not_issued')
      expect((await revise(stack, 'revoke', foreign)).status).toBe(403)
      stack.proxy.refuse = () => false
      await expect.poll(async () => (await get(issued.publicId)).body.data?.status).toBe('valid')
    })

    test.each([
      [NEVER_ISSUED, 404],
      ['nonsense', 400],
    ])('%s', async (publicId, status) => {
      expect((await get(publicId)).status).toBe(status)
    })

    test('does not find a document under a publicId that names another issuer', async () => {
      const { publicId } = (await stack.issue(ADA)).body.data
      const { status, body } = await get(inTheNameOf(2, publicId))
      expect([status, body.error.code]).toEqual([404, 'not_found'])
    })

    test('answers 503 while the chain is down', async () => {
      const { publicId } = (await stack.issue(ADA)).body.data
      stack.proxy.refuse = () => true
      expect((await get(publicId)).status).toBe(503)
    })
  })

  describe('an existing record', () => {
    /** A document that is promised, while no transaction can be made. */
    async function promise(key: string): Promise<{ publicId: string; documentHash: Hex }> {
      const held = Promise.withResolvers<boolean>()
      stack.proxy.refuse = (method) => (method === 'eth_estimateGas' ? held.promise : false)
      const pending = await stack.issue(ADA, {
        'idempotency-key': key,
        prefer: 'respond-async',
      })
      held.resolve(true)
      expect(pending.status).toBe(202)
      return pending.body.data
    }
    const again = (key: string) => stack.issue(ADA, { 'idempotency-key': key })

    test('is a conflict with another expiry', async () => {
      const { documentHash } = await promise('conflict')
      const key = await addAccount(stack, 1)
      await transact(stack.provider, stack.registry, key, 'issue', [1, documentHash, 4_000_000_000])
      stack.proxy.refuse = () => false
      await expect.poll(async () => (await again('conflict')).body.error?.code).toBe('conflict')
      expect((await again('conflict')).status).toBe(409)
    })

    test('is a success if it is the same', async () => {
      const { documentHash } = await promise('same')
      const key = await addAccount(stack, 1)
      const hash = await transact(stack.provider, stack.registry, key, 'issue', [
        1,
        documentHash,
        0,
      ])
      stack.proxy.refuse = () => false
      await expect.poll(async () => (await again('same')).status).toBe(201)
      const { data } = (await again('same')).body
      expect(data).toMatchObject({ status: 'valid', blockchainHash: hash })
    })

    test('is refused if it is distrusted, and a repeat does not issue it again', async () => {
      const key = await addAccount(stack, 1)
      const { publicId, documentHash } = await promise('distrusted')
      await transact(stack.provider, stack.registry, key, 'issue', [1, documentHash, 0])
      await transact(stack.provider, stack.registry, stack.adminKey, 'distrustFrom', [
        1,
        new Wallet(key).address,
        1,
      ])
      // The promise has waited for so long that the gateway looks before it sends.
      await sleep(5_500)
      stack.proxy.refuse = () => false
      await expect.poll(async () => (await again('distrusted')).body.error?.code).toBe('distrusted')
      const { status } = await again('distrusted')
      expect(status).toBe(409)
      // Time for the promise to be sent, were it.
      await expect.poll(async () => (await stack.request('/readyz')).status).toBe(200)
      await stack.issue(ADA)
      expect((await stack.verify(publicId)).body.data.status).toBe('distrusted')
    })
  })

  describe('?wait=', () => {
    const issue = (query: string) =>
      stack.request(`/v1/documents${query}`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(ADA),
      })

    test('waits until the block is final', async () => {
      const { status, body } = await issue('?wait=finalized')
      expect(status).toBe(201)
      expect(body.data.finality).toBe('finalized')
      const { data } = (await stack.verify(body.data.publicId)).body
      expect(data.blockchainProof.finality).toBe('finalized')
    })

    test('refuses an unknown finality', async () => {
      expect((await issue('?wait=forever')).status).toBe(400)
    })
  })

  test('reports what was issued in /metrics', async () => {
    await stack.issue(ADA)
    const metrics = () => stack.request('/metrics')
    expect((await metrics()).headers.get('content-type')).toContain('text/plain')
    // Scrapes within a second share a rendering.
    const text = async () => Buffer.from((await metrics()).body).toString()
    await expect
      .poll(text)
      .toMatch(/intents_concluded_total\{kind="issue",outcome="anchored"\} \d+/)
    await expect.poll(text).toMatch(/account_balance_ether [\d.e+]+/)
  })

  describe('Idempotency-Key', () => {
    test('refuses another body', async () => {
      const headers = { 'idempotency-key': 'once' }
      const first = await stack.issue(ADA, headers)
      expect(first.status).toBe(201)
      const other = await stack.issue({ ...ADA, subjectId: '2' }, headers)
      expect(other.status).toBe(422)
      expect(other.body.error.code).toBe('idempotency_key_reused')
      expect((await stack.issue(ADA, headers)).body).toEqual(first.body)
    })

    test('keeps tenants apart', async () => {
      const headers = { 'idempotency-key': 'shared' }
      const first = await stack.issue(ADA, headers)
      const key = stack.key(['documents:issue'], 'another')
      const other = await stack.issue(ADA, {
        ...headers,
        authorization: `Bearer ${key}`,
      })
      expect(other.status).toBe(201)
      expect(other.body.data.publicId).not.toBe(first.body.data.publicId)
    })

    test('a repeat reports a later revocation', async () => {
      const headers = { 'idempotency-key': 'revoked-since' }
      const { publicId } = (await stack.issue(ADA, headers)).body.data
      await revise(stack, 'revoke', publicId)
      const again = (await stack.issue(ADA, headers)).body.data
      expect(again).toMatchObject({ publicId, status: 'revoked' })
    })
  })
})
