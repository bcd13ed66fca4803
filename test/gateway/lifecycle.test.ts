import { Wallet } from 'ethers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { decodePublicId, encodePublicId } from '../../document/public-id.ts'
import {
  ADA,
  API_KEY,
  randomKey,
  type Stack,
  startStack,
} from '../support/stack.ts'
import { transact } from '../support/transact.ts'
import golden from '../vectors/documents.json' with { type: 'json' }

const NEVER_ISSUED = golden.documents[0]?.publicId ?? ''

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ WAIT_SECONDS: '2' })
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

describe('GET /v1/documents/{publicId}', () => {
  test('default: the document as it was issued, with its proof', async () => {
    const issued = (await stack.issue(ADA)).body.data
    const { status, body } = await get(issued.publicId)
    expect(status).toBe(200)
    const { blockchainProof, ...document } = body.data
    expect(document).toEqual(issued)
    expect(blockchainProof.transactionHash).toBe(issued.blockchainHash)
  })

  test('behavior: while it is pending', async () => {
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
    expect((await revoke(foreign)).status).toBe(404)
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
    [
      encodePublicId({
        kind: 'batch',
        issuerId: 1,
        hash: new Uint8Array(32),
        documentKey: new Uint8Array(16),
      }),
      400,
    ],
  ])('error: %s', async (publicId, status) => {
    expect((await get(publicId)).status).toBe(status)
  })

  test('error: does not find a document under a publicId that names another issuer', async () => {
    const { publicId } = (await stack.issue(ADA)).body.data
    const { status, body } = await get(inTheNameOf(2, publicId))
    expect([status, body.error.code]).toEqual([404, 'not_found'])
  })

  test('error: the chain is down', async () => {
    const { publicId } = (await stack.issue(ADA)).body.data
    stack.proxy.refuse = () => true
    expect((await get(publicId)).status).toBe(503)
  })
})

describe('POST /v1/documents/{publicId}/revoke', () => {
  test('default: revokes, and the same again is the same answer', async () => {
    const { publicId, documentHash } = (await stack.issue(ADA)).body.data
    const first = await revoke(publicId, { reason: 'keyCompromise' })
    expect(first.status).toBe(200)
    expect(first.body.data).toEqual({
      publicId,
      documentHash,
      network: 'test',
      status: 'revoked',
      reason: 'keyCompromise',
      revokedAt: expect.any(Number),
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

  test('behavior: many at once, for several reasons, in few transactions', async () => {
    const reasons = ['keyCompromise', 'superseded', 'unspecified']
    const issued = await Promise.all(
      Array.from({ length: 30 }, () => stack.issue(ADA)),
    )
    const answers = await Promise.all(
      issued.map(({ body }, i) =>
        revoke(body.data.publicId, { reason: reasons[i % 3] }),
      ),
    )
    answers.forEach(({ body }, i) => {
      expect(body.data.reason).toBe(reasons[i % 3])
    })
    const transactions = new Set(
      answers.map(({ body }) => body.data.blockchainHash),
    )
    expect(transactions.size).toBeLessThan(15)
  })

  test('behavior: a document that is still pending is revoked after it is issued', async () => {
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

  test('behavior: Prefer: respond-async', async () => {
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
    stack.proxy.refuse = (method) =>
      method === 'eth_sendRawTransaction' ? held.promise : false
    const first = await revoke(
      publicId,
      { reason: 'keyCompromise' },
      { prefer: 'respond-async' },
    )
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

  test("error: rejects another issuer's document as not issued", async () => {
    const key = randomKey()
    const { address } = new Wallet(key)
    const send = (name: string, args: unknown[], by: typeof key) =>
      transact(stack.provider, stack.registry, by, name, args)
    await send('registerIssuer', [address, 'Other', ''], stack.adminKey)
    await stack.provider.request({
      method: 'anvil_setBalance',
      params: [address, '0xde0b6b3a7640000'],
    })
    const hash = crypto.getRandomValues(new Uint8Array(32))
    await send('issue', [hash, 0], key)
    const documentKey = new Uint8Array(16)
    const publicId = encodePublicId({
      kind: 'single',
      issuerId: 1,
      hash,
      documentKey,
    })
    const { status, body } = await revoke(publicId)
    expect([status, body.error.code]).toEqual([404, 'not_issued'])
  })

  test('error: rejects a publicId that names another issuer, and revokes nothing', async () => {
    const { publicId } = (await stack.issue(ADA)).body.data
    const { status, body } = await revoke(inTheNameOf(2, publicId))
    expect([status, body.error.code]).toEqual([404, 'not_issued'])
    expect((await stack.verify(publicId)).body.data.status).toBe('valid')
  })

  test.each<[string, unknown, number]>([
    ['never issued', {}, 404],
    ['an unknown reason', { reason: 'because' }, 422],
    ['a reason that would not be final', { reason: 'certificateHold' }, 422],
    ['a field too many', { reason: 'unspecified', when: 'now' }, 422],
    ['no object', [], 422],
  ])('error: %s', async (_, body, status) => {
    expect((await revoke(NEVER_ISSUED, body)).status).toBe(status)
  })

  test('error: a key without the scope', async () => {
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

describe('?wait=', () => {
  const issue = (query: string) =>
    stack.request(`/v1/documents${query}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(ADA),
    })

  test('behavior: finalized', async () => {
    const { status, body } = await issue('?wait=finalized')
    expect(status).toBe(201)
    expect(body.data.finality).toBe('finalized')
    const { data } = (await stack.verify(body.data.publicId)).body
    expect(data.blockchainProof.finality).toBe('finalized')
  })

  test('error: no such finality', async () => {
    expect((await issue('?wait=forever')).status).toBe(400)
  })
})

test('behavior: figures', async () => {
  await stack.issue(ADA)
  const { headers, body } = await stack.request('/metrics')
  expect(headers.get('content-type')).toContain('text/plain')
  const text = Buffer.from(body).toString()
  expect(text).toMatch(
    /intents_concluded_total\{kind="issue",outcome="anchored"\} \d+/,
  )
  expect(text).toMatch(/account_balance_ether [\d.e+]+/)
})

describe('Idempotency-Key', () => {
  test('error: another body', async () => {
    const headers = { 'idempotency-key': 'once' }
    const first = await stack.issue(ADA, headers)
    expect(first.status).toBe(201)
    const other = await stack.issue({ ...ADA, subjectId: '2' }, headers)
    expect(other.status).toBe(422)
    expect(other.body.error.code).toBe('idempotency_key_reused')
    expect((await stack.issue(ADA, headers)).body).toEqual(first.body)
  })

  test('behavior: another tenant is another key', async () => {
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

  test('behavior: revoked since, the same request says so', async () => {
    const headers = { 'idempotency-key': 'revoked-since' }
    const { publicId } = (await stack.issue(ADA, headers)).body.data
    await revoke(publicId)
    const again = (await stack.issue(ADA, headers)).body.data
    expect(again).toMatchObject({ publicId, status: 'revoked' })
  })

  test('error: refuses a document whose hash another issuer took first', async () => {
    const key = randomKey()
    const { address } = new Wallet(key)
    await transact(
      stack.provider,
      stack.registry,
      stack.adminKey,
      'registerIssuer',
      [address, 'Front-runner', ''],
    )
    await stack.provider.request({
      method: 'anvil_setBalance',
      params: [address, '0xde0b6b3a7640000'],
    })
    const headers = { 'idempotency-key': 'front-run' }
    stack.proxy.refuse = (method) => method === 'eth_estimateGas'
    // Nobody is told the hash, but it is always the same: the front-runner has seen it in the mempool.
    const refused = await stack.issue(ADA, headers)
    expect(refused.status).toBe(503)
    stack.proxy.refuse = (method) => method === 'eth_sendRawTransaction'
    await expect
      .poll(async () => (await stack.request('/readyz')).status, {
        timeout: 5_000,
      })
      .toBe(200)
    const pending = (await stack.issue(ADA, headers)).body.data
    await transact(stack.provider, stack.registry, key, 'issue', [
      pending.documentHash,
      0,
    ])
    stack.proxy.refuse = () => false
    await expect
      .poll(async () => (await stack.issue(ADA, headers)).body.error?.code, {
        timeout: 10_000,
      })
      .toBe('registry_refused')
    const { publicId } = pending
    expect((await stack.verify(publicId)).body.data.status).toBe('not_issued')
    // Nothing of it stands in the way of the next document.
    expect((await stack.issue(ADA)).status).toBe(201)
  })
})
