import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ADA, API_KEY, type Stack, startStack } from '#test/support/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ WAIT_SECONDS: '5' })
})
afterAll(() => stack.stop())
afterEach(() => {
  stack.proxy.fail = () => undefined
})

const CORRECTED = { ...ADA, subjectName: 'Augusta Ada King' }

async function issue(key = API_KEY) {
  const { status, body } = await stack.issue(ADA, { authorization: `Bearer ${key}` })
  expect(status).toBe(201)
  return body.data
}

const supersede = (id: string, fields: object = CORRECTED, headers: object = {}) =>
  stack.request(`/v1/documents/${id}/supersede`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(fields),
  })

const retrieve = async (id: string) => {
  const headers = { authorization: `Bearer ${API_KEY}` }
  return (await stack.request(`/v1/documents/${id}`, { headers })).body.data
}

describe('superseding', () => {
  test('issues the corrected document, revokes the old one, and links both', async () => {
    const old = await issue()
    const { status, headers, body } = await supersede(old.publicId)
    expect(status).toBe(201)
    const { superseded, ...successor } = body.data
    expect(successor).toMatchObject({
      subjectName: 'Augusta Ada King',
      status: 'valid',
      supersedes: old.documentHash,
    })
    expect(headers.get('location')).toContain(successor.publicId)
    expect(superseded).toMatchObject({
      publicId: old.publicId,
      documentHash: old.documentHash,
      status: 'superseded',
      reason: 'superseded',
      supersededBy: successor.documentHash,
      revokedAt: expect.stringMatching(/Z$/),
      blockchainHash: expect.stringMatching(/^0x/),
    })
    expect(await retrieve(old.publicId)).toMatchObject({
      status: 'superseded',
      supersededBy: successor.documentHash,
    })
    const { blockchainProof, ...retrieved } = await retrieve(successor.publicId)
    expect(retrieved).toEqual({ ...successor, createdAt: expect.stringMatching(/Z$/) })
    expect((await stack.verify(successor.publicId)).body.data).toMatchObject({
      valid: true,
      document: { supersedes: old.documentHash },
    })
  })

  test('the list has both links', async () => {
    const old = await issue()
    const { documentHash } = (await supersede(old.documentHash)).body.data
    const { body } = await stack.request('/v1/documents?limit=2', {
      headers: { authorization: `Bearer ${API_KEY}` },
    })
    expect(body.data.documents).toMatchObject([
      { documentHash, supersedes: old.documentHash, status: 'valid' },
      { documentHash: old.documentHash, supersededBy: documentHash, status: 'superseded' },
    ])
  })

  test('a chain of corrections links each to the next', async () => {
    const first = await issue()
    const second = (await supersede(first.publicId)).body.data
    const third = (await supersede(second.publicId, { ...CORRECTED, subjectId: '1' })).body.data
    expect(await retrieve(second.publicId)).toMatchObject({
      supersedes: first.documentHash,
      supersededBy: third.documentHash,
      status: 'superseded',
    })
  })

  test('a repeat with the same Idempotency-Key gives the same successor', async () => {
    const old = await issue()
    const key = { 'idempotency-key': 'correct-once' }
    const [one, other] = await Promise.all([
      supersede(old.publicId, CORRECTED, key),
      supersede(old.publicId, CORRECTED, key),
    ])
    const later = await supersede(old.publicId, CORRECTED, key)
    expect(new Set([one, other, later].map(({ body }) => body.data.publicId)).size).toBe(1)
    expect(later.status).toBe(201)
    expect(later.headers.get('idempotency-replayed')).toBe('true')
    expect(later.body.data.superseded).toMatchObject({ status: 'superseded' })
  })

  test('of two concurrent corrections, one is refused and issues nothing', async () => {
    const old = await issue()
    const answers = await Promise.all([
      supersede(old.publicId),
      supersede(old.publicId, { ...CORRECTED, subjectId: '2' }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
    const refused = answers.find(({ status }) => status === 409)
    expect(refused?.body.error.code).toBe('already_superseded')
    const { body } = await stack.request('/v1/documents?limit=3', {
      headers: { authorization: `Bearer ${API_KEY}` },
    })
    const successors = body.data.documents.filter(
      ({ supersedes }: { supersedes?: string }) => supersedes === old.documentHash,
    )
    expect(successors).toHaveLength(1)
    // Neither a later correction nor one with a new key replaces it.
    expect((await supersede(old.publicId)).body.error.code).toBe('already_superseded')
    const key = { 'idempotency-key': 'another-correction' }
    expect((await supersede(old.publicId, CORRECTED, key)).body.error.code).toBe(
      'already_superseded',
    )
  })

  test('keeps a correction that the chain refuses for a while', async () => {
    const old = await issue()
    stack.proxy.fail = (method) =>
      method === 'eth_estimateGas' ? { code: 3, message: 'execution reverted' } : undefined
    const accepted = await supersede(old.publicId)
    expect(accepted.status).toBe(202)
    expect((await retrieve(old.publicId)).status).toBe('valid')
    const other = await supersede(old.publicId, { ...CORRECTED, subjectId: '3' })
    expect(other.body.error.code).toBe('already_superseded')
    stack.proxy.fail = () => undefined
    await expect.poll(async () => (await retrieve(old.publicId)).status).toBe('superseded')
    expect((await retrieve(accepted.body.data.publicId)).status).toBe('valid')
  })

  test('a promised correction revokes once the successor is on the chain', async () => {
    const old = await issue()
    const { status, body } = await supersede(old.publicId, CORRECTED, { prefer: 'respond-async' })
    expect(status).toBe(202)
    expect(body.data.superseded).toMatchObject({ status: 'pending', revokedAt: null })
    await expect.poll(async () => (await retrieve(old.publicId)).status).toBe('superseded')
    expect((await retrieve(body.data.publicId)).status).toBe('valid')
  })

  test('supersedes a suspended document', async () => {
    const old = await issue()
    await stack.request(`/v1/documents/${old.publicId}/suspend`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: '{}',
    })
    expect((await supersede(old.publicId)).body.data.superseded.status).toBe('superseded')
  })

  test('refuses revoked and unknown documents, bad fields, and a field supersedes', async () => {
    const old = await issue()
    await stack.request(`/v1/documents/${old.publicId}/revoke`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: '{}',
    })
    expect((await supersede(old.publicId)).body.error.code).toBe('already_revoked')
    expect((await supersede(`0x${'ab'.repeat(32)}`)).body.error.code).toBe('not_issued')
    const other = await issue()
    const fields = { ...CORRECTED, supersedes: old.documentHash }
    expect((await supersede(other.publicId, fields)).body.error.details).toMatchObject([
      { field: 'supersedes' },
    ])
    expect((await retrieve(other.publicId)).status).toBe('valid')
  })

  test('requires the scopes to issue and to revoke', async () => {
    const old = await issue()
    for (const scope of ['documents:issue', 'documents:revoke'] as const) {
      const key = stack.key(['documents:read', scope])
      const answer = await supersede(old.publicId, CORRECTED, {
        authorization: `Bearer ${await key}`,
      })
      expect(answer.status).toBe(403)
    }
    const both = await stack.key(['documents:issue', 'documents:revoke'])
    const { status } = await supersede(old.publicId, CORRECTED, { authorization: `Bearer ${both}` })
    expect(status).toBe(201)
  })
})
