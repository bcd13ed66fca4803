import { setTimeout as sleep } from 'node:timers/promises'
import { Wallet } from 'ethers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Hex } from '../../document/hex.ts'
import { decodePublicId, encodePublicId } from '../../document/public-id.ts'
import { describeDatabases } from '../support/databases.ts'
import { ADA, API_KEY, randomKey, type Stack, startStack } from '../support/stack.ts'
import { transact } from '../support/transact.ts'
import golden from '../vectors/documents.json' with { type: 'json' }

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const NEVER_ISSUED = golden.documents[0]?.publicId ?? ''

describeDatabases('lifecycle', (settings) => {
  let stack: Stack
  beforeAll(async () => {
    stack = await startStack({ WAIT_SECONDS: '2', ...(await settings()) })
  })
  afterEach(async () => {
    stack.proxy.refuse = () => false
    // It finds out at its next try.
    await expect
      .poll(async () => (await stack.request('/readyz')).status, {
        timeout: 5_000,
      })
      .toBe(200)
  })
  afterAll(() => stack.stop())

  const authorization = `Bearer ${API_KEY}`
  const get = (publicId: string) =>
    stack.request(`/v1/documents/${publicId}`, { headers: { authorization } })
  const revoke = (publicId: string, body: unknown = {}, headers: object = {}) =>
    stack.request(`/v1/documents/${publicId}/revoke`, {
      method: 'POST',
      headers: {
        authorization,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
    })

  /** The same publicId, but of another issuer. */
  function inTheNameOf(issuerId: number, publicId: string): string {
    return encodePublicId({ ...decodePublicId(publicId), issuerId })
  }

  /** @returns The key of a further account of the issuer. */
  async function addAccount(permissions: number): Promise<Hex> {
    const key = randomKey()
    const { address } = new Wallet(key)
    await transact(stack.provider, stack.registry, stack.adminKey, 'addAccount', [
      1,
      address,
      permissions,
    ])
    await stack.provider.request({
      method: 'anvil_setBalance',
      params: [address, '0xde0b6b3a7640000'],
    })
    return key
  }

  describe('GET /v1/documents/{publicId}', () => {
    test('default: returns the document as it was issued, with its proof', async () => {
      const issued = (await stack.issue(ADA)).body.data
      const { status, body } = await get(issued.publicId)
      expect(status).toBe(200)
      const { blockchainProof, ...document } = body.data
      expect(document).toEqual(issued)
      expect(blockchainProof.transactionHash).toBe(issued.blockchainHash)
    })

    test('behavior: returns it while it is pending', async () => {
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
      expect((await revoke(foreign)).status).toBe(403)
      stack.proxy.refuse = () => false
      await expect
        .poll(async () => (await get(issued.publicId)).body.data?.status, {
          timeout: 10_000,
        })
        .toBe('valid')
    })

    test.each([
      [NEVER_ISSUED, 404],
      ['nonsense', 400],
    ])('error: %s', async (publicId, status) => {
      expect((await get(publicId)).status).toBe(status)
    })

    test('error: does not find a document under a publicId that names another issuer', async () => {
      const { publicId } = (await stack.issue(ADA)).body.data
      const { status, body } = await get(inTheNameOf(2, publicId))
      expect([status, body.error.code]).toEqual([404, 'not_found'])
    })

    test('error: answers 503 while the chain is down', async () => {
      const { publicId } = (await stack.issue(ADA)).body.data
      stack.proxy.refuse = () => true
      expect((await get(publicId)).status).toBe(503)
    })
  })

  describe('POST /v1/documents/{publicId}/revoke', () => {
    test('default: revokes, and answers a repeat alike', async () => {
      const { publicId, documentHash } = (await stack.issue(ADA)).body.data
      const first = await revoke(publicId, { reason: 'keyCompromise' })
      expect(first.status).toBe(200)
      expect(first.body.data).toEqual({
        publicId,
        documentHash,
        network: 'test',
        status: 'revoked',
        reason: 'keyCompromise',
        revokedAt: expect.stringMatching(INSTANT),
        blockchainHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      })
      const again = await revoke(publicId, { reason: 'superseded' })
      expect(again.status).toBe(200)
      expect(again.body).toEqual(first.body)
      const { data } = (await stack.verify(publicId)).body
      expect(data).toMatchObject({
        valid: false,
        status: 'revoked',
        blockchainProof: { reason: 'keyCompromise' },
      })
    })

    test('behavior: revokes many at once, for several reasons, in few transactions', async () => {
      const reasons = ['keyCompromise', 'superseded', 'unspecified']
      const issued = await Promise.all(Array.from({ length: 30 }, () => stack.issue(ADA)))
      const answers = await Promise.all(
        issued.map(({ body }, i) => revoke(body.data.publicId, { reason: reasons[i % 3] })),
      )
      answers.forEach(({ body }, i) => {
        expect(body.data.reason).toBe(reasons[i % 3])
      })
      const transactions = new Set(answers.map(({ body }) => body.data.blockchainHash))
      expect(transactions.size).toBeLessThan(15)
    })

    test('behavior: revokes a pending document after it is issued', async () => {
      stack.proxy.refuse = (method) => method === 'eth_sendRawTransaction'
      const { publicId } = (await stack.issue(ADA)).body.data
      stack.proxy.refuse = () => false
      const answer = await expect
        .poll(() => revoke(publicId), { timeout: 10_000 })
        .toMatchObject({ body: { success: true } })
        .then(() => revoke(publicId))
      expect([200, 202]).toContain(answer.status)
      await expect
        .poll(async () => (await stack.verify(publicId)).body.data?.status, {
          timeout: 10_000,
        })
        .toBe('revoked')
    })

    test('behavior: honours Prefer: respond-async', async () => {
      const { publicId } = (await stack.issue(ADA)).body.data
      const accepted = await revoke(publicId, {}, { prefer: 'respond-async' })
      expect(accepted.status).toBe(202)
      expect(accepted.body.data.status).toBe('pending')
      await expect
        .poll(async () => (await stack.verify(publicId)).body.data?.status)
        .toBe('revoked')
    })

    test('behavior: a second caller gets the reason of the revocation that is pending', async () => {
      const { publicId } = (await stack.issue(ADA)).body.data
      const held = Promise.withResolvers<boolean>()
      stack.proxy.refuse = (method) => (method === 'eth_sendRawTransaction' ? held.promise : false)
      const first = await revoke(publicId, { reason: 'keyCompromise' }, { prefer: 'respond-async' })
      expect(first.status).toBe(202)
      const [second, third] = await Promise.all([
        revoke(publicId, { reason: 'superseded' }, { prefer: 'respond-async' }),
        revoke(publicId, { reason: 'unspecified' }),
      ])
      for (const { status, body } of [first, second, third]) {
        expect(status).toBe(202)
        expect(body.data.reason).toBe('keyCompromise')
      }
      held.resolve(false)
      await expect
        .poll(async () => (await stack.verify(publicId)).body.data, {
          timeout: 10_000,
        })
        .toMatchObject({
          status: 'revoked',
          blockchainProof: { reason: 'keyCompromise' },
        })
    })

    test("error: refuses another issuer's document", async () => {
      const hash = crypto.getRandomValues(new Uint8Array(32))
      const documentKey = new Uint8Array(16)
      const publicId = encodePublicId({
        kind: 'single',
        issuerId: 2,
        hash,
        documentKey,
      })
      const { status, body } = await revoke(publicId)
      expect([status, body.error.code]).toEqual([403, 'other_issuer'])
    })

    test('error: rejects a publicId that names another issuer, and revokes nothing', async () => {
      const { publicId } = (await stack.issue(ADA)).body.data
      const { status, body } = await revoke(inTheNameOf(2, publicId))
      expect([status, body.error.code]).toEqual([403, 'other_issuer'])
      expect((await stack.verify(publicId)).body.data.status).toBe('valid')
    })

    test('error: reports a batch block that cannot be read as an outage', async () => {
      const publicId = encodePublicId({
        kind: 'batch',
        issuerId: 1,
        hash: new Uint8Array(32),
        documentKey: new Uint8Array(16),
      })
      const { status, body } = await revoke(publicId)
      expect([status, body.error.code]).toEqual([503, 'unverifiable'])
    })

    test.each<[string, unknown, number]>([
      ['never issued', {}, 404],
      ['an unknown reason', { reason: 'because' }, 422],
      ['a suspension', { reason: 'certificateHold' }, 422],
      ['a field too many', { reason: 'unspecified', when: 'now' }, 422],
      ['no object', [], 422],
    ])('error: %s', async (_, body, status) => {
      expect((await revoke(NEVER_ISSUED, body)).status).toBe(status)
    })

    test('error: refuses a key without the scope', async () => {
      const { publicId } = (await stack.issue(ADA)).body.data
      const answer = await revoke(
        publicId,
        {},
        { authorization: `Bearer ${stack.key(['documents:issue', 'verify'])}` },
      )
      expect(answer.status).toBe(403)
      expect((await stack.verify(publicId)).body.data.status).toBe('valid')
    })
  })

  describe('POST /v1/documents/{publicId}/suspend and /release', () => {
    const change = (
      action: 'suspend' | 'release',
      publicId: string,
      headers: object = {},
      body: unknown = {},
    ) =>
      stack.request(`/v1/documents/${publicId}/${action}`, {
        method: 'POST',
        headers: {
          authorization,
          'content-type': 'application/json',
          ...headers,
        },
        body: JSON.stringify(body),
      })
    const statusOf = async (publicId: string) => (await stack.verify(publicId)).body.data?.status
    const issue = async (): Promise<string> => (await stack.issue(ADA)).body.data.publicId

    test('default: suspends and releases any number of times', async () => {
      const publicId = await issue()
      for (let round = 0; round < 3; round++) {
        const suspended = await change('suspend', publicId)
        expect(suspended.status).toBe(200)
        expect(suspended.body.data).toEqual({
          publicId,
          documentHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
          network: 'test',
          status: 'suspended',
          reason: 'certificateHold',
          suspendedAt: expect.stringMatching(INSTANT),
          blockchainHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        })
        expect(await statusOf(publicId)).toBe('suspended')
        const released = await change('release', publicId)
        expect(released.status).toBe(200)
        expect(released.body.data).toEqual({
          publicId,
          documentHash: suspended.body.data.documentHash,
          network: 'test',
          status: 'valid',
          releasedAt: expect.stringMatching(INSTANT),
          blockchainHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        })
        expect(await statusOf(publicId)).toBe('valid')
      }
      const { data } = (await stack.verify(publicId)).body
      expect(data.blockchainProof.releasedAt).toMatch(INSTANT)
      expect(data.blockchainProof.revokedAt).toBeNull()
    })

    test('behavior: answers a repeat alike', async () => {
      const publicId = await issue()
      for (const action of ['suspend', 'release'] as const) {
        const first = await change(action, publicId)
        expect(await change(action, publicId)).toMatchObject({
          status: 200,
          body: first.body,
        })
      }
    })

    test('behavior: makes a suspension final', async () => {
      const publicId = await issue()
      await change('suspend', publicId)
      const revoked = await revoke(publicId, { reason: 'keyCompromise' })
      expect(revoked.body.data).toMatchObject({
        status: 'revoked',
        reason: 'keyCompromise',
      })
      for (const action of ['suspend', 'release'] as const)
        expect(await change(action, publicId)).toMatchObject({
          status: 409,
          body: { error: { code: 'already_revoked' } },
        })
      expect(await statusOf(publicId)).toBe('revoked')
    })

    test('behavior: a release waits for the suspension in flight', async () => {
      const publicId = await issue()
      const held = Promise.withResolvers<boolean>()
      stack.proxy.refuse = (method) => (method === 'eth_sendRawTransaction' ? held.promise : false)
      const suspended = await change('suspend', publicId, {
        prefer: 'respond-async',
      })
      expect(suspended.body.data).toMatchObject({
        status: 'pending',
        reason: 'certificateHold',
        suspendedAt: null,
      })
      const released = change('release', publicId)
      held.resolve(false)
      expect((await released).body.data.status).toBe('valid')
      expect(await statusOf(publicId)).toBe('valid')
    })

    test('error: refuses a release that may not wait for the suspension in flight', async () => {
      const publicId = await issue()
      const held = Promise.withResolvers<boolean>()
      stack.proxy.refuse = (method) => (method === 'eth_sendRawTransaction' ? held.promise : false)
      await change('suspend', publicId, { prefer: 'respond-async' })
      const refused = await change('release', publicId, {
        prefer: 'respond-async',
      })
      expect(refused.status).toBe(409)
      expect(refused.body.error.code).toBe('change_pending')
      held.resolve(false)
      await expect.poll(() => statusOf(publicId)).toBe('suspended')
      expect((await change('release', publicId)).status).toBe(200)
    })

    test('behavior: sees what another account did, and does not undo it', async () => {
      const publicId = await issue()
      const { documentHash } = (await change('suspend', publicId)).body.data
      const key = await addAccount(2)
      const send = (name: string, ...args: unknown[]) =>
        transact(stack.provider, stack.registry, key, name, [1, documentHash, ...args])
      await send('release')
      expect((await change('suspend', publicId)).body.data.status).toBe('suspended')
      await send('release')
      const revoked = (await revoke(publicId)).body.data
      expect(revoked).toMatchObject({ status: 'revoked', reason: 'unspecified' })
    })

    test('error: refuses a release when there is nothing to release', async () => {
      const answer = await change('release', await issue())
      expect(answer.status).toBe(409)
      expect(answer.body.error.code).toBe('not_suspended')
    })

    test('error: refuses a key without the scope, a body with a field, and a document never issued', async () => {
      const publicId = await issue()
      const key = stack.key(['documents:issue', 'documents:read', 'verify'])
      for (const action of ['suspend', 'release'] as const) {
        const bearer = { authorization: `Bearer ${key}` }
        expect((await change(action, publicId, bearer)).status).toBe(403)
        const body = { reason: 'unspecified' }
        expect((await change(action, publicId, {}, body)).status).toBe(422)
        expect((await change(action, NEVER_ISSUED)).status).toBe(404)
        expect((await change(action, 'nonsense')).status).toBe(400)
      }
      expect(await statusOf(publicId)).toBe('valid')
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

    test('error: is a conflict if it has another expiry', async () => {
      const { documentHash } = await promise('conflict')
      const key = await addAccount(1)
      await transact(stack.provider, stack.registry, key, 'issue', [
        ...[1, documentHash, 4_000_000_000],
      ])
      stack.proxy.refuse = () => false
      await expect
        .poll(async () => (await again('conflict')).body.error?.code, {
          timeout: 10_000,
        })
        .toBe('conflict')
      expect((await again('conflict')).status).toBe(409)
    })

    test('behavior: is a success if it is the same', async () => {
      const { documentHash } = await promise('same')
      const key = await addAccount(1)
      const hash = await transact(stack.provider, stack.registry, key, 'issue', [
        ...[1, documentHash, 0],
      ])
      stack.proxy.refuse = () => false
      await expect.poll(async () => (await again('same')).status, { timeout: 10_000 }).toBe(201)
      const { data } = (await again('same')).body
      expect(data).toMatchObject({ status: 'valid', blockchainHash: hash })
    })

    test('error: is refused if it is distrusted, and a repeat does not issue it again', async () => {
      const key = await addAccount(1)
      const { publicId, documentHash } = await promise('distrusted')
      await transact(stack.provider, stack.registry, key, 'issue', [...[1, documentHash, 0]])
      await transact(stack.provider, stack.registry, stack.adminKey, 'distrustFrom', [
        1,
        new Wallet(key).address,
        1,
      ])
      // The promise has waited for so long that the gateway looks before it sends.
      await sleep(5_500)
      stack.proxy.refuse = () => false
      await expect
        .poll(async () => (await again('distrusted')).body.error?.code, {
          timeout: 10_000,
        })
        .toBe('distrusted')
      const { status } = await again('distrusted')
      expect(status).toBe(409)
      // Time for the promise to be sent, were it.
      await expect.poll(async () => (await stack.request('/readyz')).status).toBe(200)
      await stack.issue(ADA)
      expect((await stack.verify(publicId)).body.data.status).toBe('distrusted')
    }, 30_000)
  })

  describe('?wait=', () => {
    const issue = (query: string) =>
      stack.request(`/v1/documents${query}`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(ADA),
      })

    test('behavior: waits until the block is final', async () => {
      const { status, body } = await issue('?wait=finalized')
      expect(status).toBe(201)
      expect(body.data.finality).toBe('finalized')
      const { data } = (await stack.verify(body.data.publicId)).body
      expect(data.blockchainProof.finality).toBe('finalized')
    })

    test('error: refuses an unknown finality', async () => {
      expect((await issue('?wait=forever')).status).toBe(400)
    })
  })

  test('behavior: reports what was issued in /metrics', async () => {
    await stack.issue(ADA)
    const { headers, body } = await stack.request('/metrics')
    expect(headers.get('content-type')).toContain('text/plain')
    const text = Buffer.from(body).toString()
    expect(text).toMatch(/intents_concluded_total\{kind="issue",outcome="anchored"\} \d+/)
    expect(text).toMatch(/account_balance_ether [\d.e+]+/)
  })

  describe('Idempotency-Key', () => {
    test('error: refuses another body', async () => {
      const headers = { 'idempotency-key': 'once' }
      const first = await stack.issue(ADA, headers)
      expect(first.status).toBe(201)
      const other = await stack.issue({ ...ADA, subjectId: '2' }, headers)
      expect(other.status).toBe(422)
      expect(other.body.error.code).toBe('idempotency_key_reused')
      expect((await stack.issue(ADA, headers)).body).toEqual(first.body)
    })

    test('behavior: keeps tenants apart', async () => {
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

    test('behavior: reports a revocation since to the same request', async () => {
      const headers = { 'idempotency-key': 'revoked-since' }
      const { publicId } = (await stack.issue(ADA, headers)).body.data
      await revoke(publicId)
      const again = (await stack.issue(ADA, headers)).body.data
      expect(again).toMatchObject({ publicId, status: 'revoked' })
    })
  })
})
