import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ADA, API_KEY, type Stack, startStack } from '#test/support/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.stop())

const list = (query = '', key = API_KEY) =>
  stack.request(`/v1/events${query}`, { headers: { authorization: `Bearer ${key}` } })

const revise = (publicId: string, action: string, key = API_KEY) =>
  stack.request(`/v1/documents/${publicId}/${action}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{}',
  })

describe('GET /v1/events', () => {
  test('lists what happened to a document, with hashes and nothing else', async () => {
    const issued = (await stack.issue(ADA)).body.data
    await revise(issued.publicId, 'suspend')
    const { status, body } = await list()
    expect(status).toBe(200)
    expect(body.data.events).toMatchObject([
      {
        id: expect.stringMatching(/^evt_\d+_\d+$/),
        type: 'document.issued',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        data: {
          documentHash: issued.documentHash,
          blockNumber: expect.any(Number),
          blockHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
          transactionHash: issued.blockchainHash,
          tenant: 'default',
        },
      },
      { type: 'document.suspended', data: { documentHash: issued.documentHash } },
    ])
    expect(body.data.hasMore).toBe(false)
    const text = JSON.stringify(body)
    for (const secret of [issued.publicId, ADA.subjectName, ADA.subjectId, ADA.category])
      expect(text).not.toContain(secret)
  })

  test('continues after an event, and filters by types', async () => {
    const { body } = await list()
    const [first, second] = body.data.events
    expect((await list(`?after=${first.id}&limit=1`)).body.data.events).toEqual([second])
    expect(body.data.next).toBe(second.id)
    const some = await list('?type=document.suspended,document.erased')
    expect(some.body.data.events).toEqual([second])
  })

  test('superseding is one event of each document, without a revocation event', async () => {
    const old = (await stack.issue(ADA)).body.data
    const path = `/v1/documents/${old.publicId}/supersede`
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ ...ADA, subjectName: 'Augusta Ada King' })
    const successor = (await stack.request(path, { method: 'POST', headers, body })).body.data
    const typesOf = async (hash: string) => {
      const { events } = (await list('?limit=1000')).body.data
      return events
        .filter((event: { data: { documentHash: string } }) => event.data.documentHash === hash)
        .map(({ type }: { type: string }) => type)
        .filter((type: string) => type !== 'document.final')
    }
    expect(await typesOf(old.documentHash)).toEqual(['document.issued', 'document.superseded'])
    expect(await typesOf(successor.documentHash)).toEqual(['document.issued'])
  })

  test('a document is final once its block is', async () => {
    const { documentHash } = (await stack.issue(ADA)).body.data
    const finals = async () => {
      const { body } = await list('?type=document.final')
      return body.data.events.filter((event: { data: { documentHash: string } }) =>
        event.data.documentHash.includes(documentHash),
      )
    }
    await expect.poll(finals, { interval: 250 }).toHaveLength(1)
  })

  test('a key sees the events of its tenant, an admin sees all', async () => {
    const key = stack.key(['documents:read', 'documents:issue'], 'office')
    const other = stack.key(['documents:read'], 'another office')
    const { documentHash } = (await stack.issue(ADA, { authorization: `Bearer ${key}` })).body.data
    const hashes = async (asked?: string) =>
      (await list('?limit=1000', asked)).body.data.events.map(
        (event: { data: { documentHash: string } }) => event.data.documentHash,
      )
    expect(await hashes(key)).toEqual([documentHash])
    expect(await hashes(other)).toEqual([])
    expect(await hashes()).toContain(documentHash)
  })

  test("events of a change by another tenant's admin belong to the tenant of the document", async () => {
    const key = stack.key(['documents:read', 'documents:issue'], 'one')
    const other = stack.key(['documents:read'], 'default')
    const authorization = `Bearer ${key}`
    const { publicId, documentHash } = (await stack.issue(ADA, { authorization })).body.data
    const { body } = await stack.request('/v1/batches', {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/x-ndjson' },
      body: JSON.stringify(ADA),
    })
    const { batchRoot } = JSON.parse(Buffer.from(body).toString()).data
    await revise(publicId, 'revoke')
    await stack.request(`/v1/batches/${batchRoot}/revoke`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: '{}',
    })
    const revoked = async (asked?: string) =>
      (await list('?limit=1000&type=document.revoked,batch.revoked', asked)).body.data.events.map(
        ({ data }: { data: { documentHash?: string; batchRoot?: string } }) =>
          data.documentHash ?? data.batchRoot,
      )
    expect(await revoked(key)).toEqual([documentHash, batchRoot])
    expect(await revoked()).toEqual([documentHash, batchRoot])
    expect(await revoked(other)).toEqual([])
  })

  test('names every bad parameter', async () => {
    const { status, body } = await list('?after=1&type=document.gone&limit=1001&from=3')
    expect(status).toBe(400)
    expect(body.error.code).toBe('bad_query')
    const fields = body.error.details.map(({ field }: { field: string }) => field)
    expect(fields.sort()).toEqual(['after', 'from', 'limit', 'type'])
  })

  test('answers 410 for an event that was deleted', async () => {
    const { status, body } = await list('?after=evt_1_1')
    expect([status, body.error.code]).toEqual([410, 'unknown_event'])
  })

  test('requires a key with documents:read', async () => {
    expect((await list('', 'nobody')).status).toBe(401)
    expect((await list('', stack.key(['documents:issue']))).status).toBe(403)
  })
})
