import { Wallet } from 'ethers'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import { describeDatabases } from '../support/databases.ts'
import { addAccount, endRefusals, revise } from '../support/revise.ts'
import { ADA, type Stack, startStack } from '../support/stack.ts'
import { transact } from '../support/transact.ts'

// POST /v1/documents/{publicId}/suspend and /release

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const NEVER_ISSUED = golden.documents[0]?.publicId ?? ''

describeDatabases('suspending', (settings) => {
  let stack: Stack
  beforeAll(async () => {
    stack = await startStack({ WAIT_SECONDS: '60', ...(await settings()) })
  })
  afterEach(() => endRefusals(stack))
  afterAll(() => stack.stop())

  const change = (
    action: 'suspend' | 'release',
    publicId: string,
    headers: object = {},
    body: unknown = {},
  ) => revise(stack, action, publicId, { headers, body })
  const statusOf = async (publicId: string) => (await stack.verify(publicId)).body.data?.status
  const issue = async (): Promise<string> => (await stack.issue(ADA)).body.data.publicId

  test('suspends and releases any number of times', async () => {
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

  test('gives a repeat the same answer', async () => {
    const publicId = await issue()
    for (const action of ['suspend', 'release'] as const) {
      const first = await change(action, publicId)
      expect(await change(action, publicId)).toMatchObject({
        status: 200,
        body: first.body,
      })
    }
  })

  test('makes a suspension final', async () => {
    const publicId = await issue()
    await change('suspend', publicId)
    const revoked = await revise(stack, 'revoke', publicId, { body: { reason: 'keyCompromise' } })
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

  test('a release waits for the suspension in flight', async () => {
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

  test('refuses a release that cannot wait for the suspension in flight', async () => {
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

  test('follows what another account did, without undoing it', async () => {
    const publicId = await issue()
    const { documentHash } = (await change('suspend', publicId)).body.data
    const key = await addAccount(stack, 2)
    const send = (name: string, ...args: unknown[]) =>
      transact(stack.provider, stack.registry, key, name, [1, documentHash, ...args])
    await send('release')
    expect((await change('suspend', publicId)).body.data.status).toBe('suspended')
    await send('release')
    const revoked = (await revise(stack, 'revoke', publicId)).body.data
    expect(revoked).toMatchObject({ status: 'revoked', reason: 'unspecified' })
  })

  /** A document that was suspended and that a thief released, until `distrust`. */
  async function releasedByThief() {
    const { provider, registry, adminKey } = stack
    const publicId = await issue()
    const { documentHash } = (await change('suspend', publicId)).body.data
    const thief = await addAccount(stack, 2)
    await transact(provider, registry, thief, 'release', [1, documentHash])
    const { address } = new Wallet(thief)
    const distrust = () => transact(provider, registry, adminKey, 'distrustFrom', [1, address, 1])
    return { publicId, documentHash, thief: address.toLowerCase(), distrust }
  }
  const sent = () => stack.proxy.asked.filter((name) => name === 'eth_sendRawTransaction').length

  test('releases what a thief released, which counts as suspended', async () => {
    const { publicId, documentHash, thief, distrust } = await releasedByThief()
    const before = (await change('release', publicId)).body.data
    expect(before).toMatchObject({ status: 'valid', blockchainHash: expect.any(String) })
    await distrust()
    const { data } = (await stack.verify(publicId)).body
    expect(data).toMatchObject({
      valid: false,
      status: 'suspended',
      blockchainProof: {
        reason: 'certificateHold',
        revokedAt: null,
        releasedAt: expect.stringMatching(INSTANT),
        revoker: { address: thief, distrustedFrom: 1 },
      },
    })
    const from = sent()
    const released = await change('release', publicId)
    expect(released.status).toBe(200)
    expect(released.body.data).toMatchObject({ documentHash, status: 'valid' })
    expect(released.body.data.blockchainHash).not.toBe(before.blockchainHash)
    expect(sent()).toBe(from + 1)
    expect(await statusOf(publicId)).toBe('valid')
  })

  test('suspends nothing that a thief released, but can revoke it', async () => {
    const { publicId, distrust } = await releasedByThief()
    await distrust()
    const from = sent()
    const suspended = await change('suspend', publicId)
    expect(suspended.status).toBe(200)
    expect(suspended.body.data).toMatchObject({
      status: 'suspended',
      reason: 'certificateHold',
      suspendedAt: null,
      blockchainHash: null,
    })
    expect(sent()).toBe(from)
    expect((await revise(stack, 'revoke', publicId)).body.data.status).toBe('revoked')
  })

  test('refuses a release when there is nothing to release', async () => {
    const answer = await change('release', await issue())
    expect(answer.status).toBe(409)
    expect(answer.body.error.code).toBe('not_suspended')
  })

  test('refuses a key without the scope, a body with a field, and a document never issued', async () => {
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
