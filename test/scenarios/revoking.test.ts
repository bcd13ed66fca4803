import { Wallet } from 'ethers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import type { Hex } from '#document/hex.ts'
import { encodePublicId } from '#document/public-id.ts'
import { describeDatabases } from '../support/databases.ts'
import { isCallOf } from '../support/registry-call.ts'
import { addAccount, endRefusals, inTheNameOf, revise } from '../support/revise.ts'
import { ADA, type Answer, API_KEY, type Stack, startStack } from '../support/stack.ts'
import { transact } from '../support/transact.ts'

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

  test('revokes, and gives a repeat the same answer', async () => {
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

  test('revokes many at once, for several reasons, in few transactions', async () => {
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

  test('revokes a pending document after it is issued', async () => {
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

  test('honours Prefer: respond-async', async () => {
    const { publicId } = (await stack.issue(ADA)).body.data
    const accepted = await revoke(publicId, {}, { prefer: 'respond-async' })
    expect(accepted.status).toBe(202)
    expect(accepted.body.data.status).toBe('pending')
    await expect.poll(async () => (await stack.verify(publicId)).body.data?.status).toBe('revoked')
  })

  test('a second caller gets the reason of the pending revocation', async () => {
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

  describe('when another account is first', () => {
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
    const get = async (path: string) => (await stack.request(path, { headers })).body.data
    const issue = async (): Promise<{ publicId: string; documentHash: Hex }> =>
      (await stack.issue(ADA)).body.data
    let batches = 0
    const issueBatch = async () => {
      const fields = { ...ADA, subjectName: `Ada ${++batches}` }
      const { body } = await stack.request('/v1/batches', {
        method: 'POST',
        body: JSON.stringify(fields),
        headers: { ...headers, 'content-type': 'application/x-ndjson' },
      })
      const { data } = JSON.parse(Buffer.from(body).toString())
      return data as { publicId: string; documentHash: Hex; batchRoot: Hex }
    }
    const sent = () => stack.proxy.asked.filter((name) => name === 'eth_sendRawTransaction').length

    /** Holds the answer to a look at the record of a document, and does something meanwhile. */
    async function meanwhile(
      request: () => Promise<Answer>,
      work: () => Promise<unknown>,
    ): Promise<Answer> {
      const [looked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      let isFirst = true
      stack.proxy.change = async (method, result, params) => {
        const call = { method, params }
        if (!isCallOf('verificationOf', call) && !isCallOf('recordsOf', call)) return result
        if (!isFirst) return result
        isFirst = false
        looked.resolve()
        await held.promise
        return result
      }
      const answer = request()
      await looked.promise
      await work().finally(held.resolve)
      await answer
      stack.proxy.change = (_, result) => result
      return answer
    }

    /** @returns The types of its events of changes, in order. */
    async function changesOf(documentHash: Hex): Promise<string[]> {
      const { events } = await get('/v1/events?limit=1000')
      return (events as { type: string; data: { documentHash: Hex } }[])
        .filter(
          ({ type, data }) => data.documentHash === documentHash && !/issued|final/.test(type),
        )
        .map(({ type }) => type.replace('document.', ''))
    }

    /** Fails unless it is in the list of this status, in no other one, and has this one event. */
    async function isOnly(status: string, documentHash: Hex): Promise<void> {
      await expect.poll(() => changesOf(documentHash)).toEqual([status])
      for (const other of ['valid', 'suspended', 'revoked', 'superseded']) {
        const { documents } = await get(`/v1/documents?status=${other}&limit=100`)
        const hashes = documents.map((one: { documentHash: Hex }) => one.documentHash)
        expect.soft(hashes.includes(documentHash), other).toBe(other === status)
      }
    }

    test.each([
      ['a document', issue],
      ['a document of a batch', issueBatch],
    ])('a delayed read of %s does not revoke it again', async (_, make) => {
      const { publicId, documentHash } = await make()
      let transactions = 0
      const late = await meanwhile(
        () => revoke(publicId, { reason: 'superseded' }),
        async () => {
          const first = await revoke(publicId, { reason: 'keyCompromise' })
          expect(first.status).toBe(200)
          transactions = sent()
        },
      )
      expect(late).toMatchObject({ status: 200, body: { data: { reason: 'keyCompromise' } } })
      await isOnly('revoked', documentHash)
      expect(sent()).toBe(transactions)
    })

    test('does not repeat a suspension whose read was delayed, but one that was undone', async () => {
      const { publicId, documentHash } = await issue()
      const suspend = () => revise(stack, 'suspend', publicId)
      const late = await meanwhile(suspend, suspend)
      expect(late).toMatchObject({ status: 200, body: { data: { status: 'suspended' } } })
      await isOnly('suspended', documentHash)
      const { provider, registry } = stack
      await transact(provider, registry, await addAccount(stack, 2), 'release', [1, documentHash])
      expect((await suspend()).body.data.status).toBe('suspended')
      await expect.poll(() => changesOf(documentHash)).toEqual(['suspended', 'suspended'])
    })

    test.each([
      ['a document', 'revoke', issue],
      ['a document of a batch', 'revokeInBatch', issueBatch],
    ] as const)(
      'the event of %s names the revocation of another account',
      async (_, name, make) => {
        const made = await make()
        const { publicId, documentHash } = made
        const key = await addAccount(stack, 2)
        const held = Promise.withResolvers<boolean>()
        stack.proxy.refuse = (method) =>
          method === 'eth_sendRawTransaction' ? held.promise : false
        const answer = await revoke(publicId, { reason: 'superseded' }, { prefer: 'respond-async' })
        expect(answer.status).toBe(202)
        const args =
          name === 'revoke'
            ? [1, documentHash, 1]
            : [1, (made as Awaited<ReturnType<typeof issueBatch>>).batchRoot, [documentHash], 1]
        const transactionHash = await transact(stack.provider, stack.registry, key, name, args)
        held.resolve(false)
        await isOnly('revoked', documentHash)
        const { events } = await get('/v1/events?type=document.revoked&limit=1000')
        expect(events.at(-1).data).toMatchObject({ documentHash, transactionHash })
      },
    )

    test('revokes again after a distrusted revocation', async () => {
      const { provider, registry, adminKey } = stack
      const { publicId, documentHash } = await issue()
      const thief = await addAccount(stack, 2)
      const act = (key: Hex, name: string, ...args: unknown[]) =>
        transact(provider, registry, key, name, [1, ...args])
      const held = Promise.withResolvers<boolean>()
      stack.proxy.refuse = (method) => (method === 'eth_sendRawTransaction' ? held.promise : false)
      await revoke(publicId, { reason: 'superseded' }, { prefer: 'respond-async' })
      await act(thief, 'revoke', documentHash, 1)
      held.resolve(false)
      await isOnly('revoked', documentHash)
      await act(adminKey, 'distrustFrom', new Wallet(thief).address, 1)
      await act(adminKey, 'setPermissions', new Wallet(adminKey).address, 6)
      await act(adminKey, 'release', documentHash)
      const again = await revoke(publicId, { reason: 'superseded' })
      expect(again).toMatchObject({ status: 200, body: { data: { reason: 'superseded' } } })
      await expect.poll(() => changesOf(documentHash)).toEqual(['revoked', 'superseded'])
    })
  })

  test("refuses another issuer's document", async () => {
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

  test('rejects a publicId that names another issuer, and revokes nothing', async () => {
    const { publicId } = (await stack.issue(ADA)).body.data
    const { status, body } = await revoke(inTheNameOf(2, publicId))
    expect([status, body.error.code]).toEqual([403, 'other_issuer'])
    expect((await stack.verify(publicId)).body.data.status).toBe('valid')
  })

  test('reports a batch block that cannot be read as an outage', async () => {
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
  ])('%s', async (_, body, status) => {
    expect((await revoke(NEVER_ISSUED, body)).status).toBe(status)
  })

  test('refuses a key without the scope', async () => {
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
