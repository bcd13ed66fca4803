import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { encodePublicId } from '../../document/public-id.ts'
import { describeDatabases } from '../support/databases.ts'
import { endRefusals, inTheNameOf, revise } from '../support/revise.ts'
import { ADA, type Stack, startStack } from '../support/stack.ts'
import golden from '../vectors/documents.json' with { type: 'json' }

// POST /v1/documents/{publicId}/revoke

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const NEVER_ISSUED = golden.documents[0]?.publicId ?? ''

describeDatabases('revoking', (settings) => {
  let stack: Stack
  beforeAll(async () => {
    stack = await startStack({ WAIT_SECONDS: '2', ...(await settings()) })
  })
  afterEach(() => endRefusals(stack))
  afterAll(() => stack.stop())

  const revoke = (publicId: string, body: unknown = {}, headers: object = {}) =>
    revise(stack, 'revoke', publicId, { body, headers })

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
      .poll(() => revoke(publicId))
      .toMatchObject({ body: { success: true } })
      .then(() => revoke(publicId))
    expect([200, 202]).toContain(answer.status)
    await expect.poll(async () => (await stack.verify(publicId)).body.data?.status).toBe('revoked')
  })

  test('behavior: honours Prefer: respond-async', async () => {
    const { publicId } = (await stack.issue(ADA)).body.data
    const accepted = await revoke(publicId, {}, { prefer: 'respond-async' })
    expect(accepted.status).toBe(202)
    expect(accepted.body.data.status).toBe('pending')
    await expect.poll(async () => (await stack.verify(publicId)).body.data?.status).toBe('revoked')
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
      .poll(async () => (await stack.verify(publicId)).body.data)
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
