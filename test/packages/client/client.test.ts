import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Client, createClient } from '#client/index.ts'
import { serveHttp, type TestServer } from '../../support/http.ts'
import { ADA, API_KEY, type Stack, startStack } from '../../support/stack.ts'

describe('a real gateway', () => {
  let stack: Stack
  let client: Client
  beforeAll(async () => {
    stack = await startStack()
    client = createClient({ baseUrl: `${stack.url}/`, apiKey: API_KEY })
  })
  afterAll(() => stack.stop())

  test('issues, retrieves, verifies, proves and revokes a document', async () => {
    const { publicId, status } = await client.issueDocument({ body: ADA })
    expect(status).toBe('valid')
    const found = await client.retrieveDocument({ path: { publicId } })
    expect(found.subjectName).toBe(ADA.subjectName)
    expect((await client.verifyDocument({ query: { publicId } })).valid).toBe(true)
    expect((await client.retrieveBundle({ path: { publicId } })).publicId).toBe(publicId)
    const revoked = await client.revokeDocument({
      path: { publicId },
      body: { reason: 'keyCompromise' },
    })
    expect(revoked.status).toBe('revoked')
    expect((await client.checkHealth()).status).toBe('ok')
  })

  test('accepts a number in a query', async () => {
    await client.issueDocument({ body: ADA })
    await client.issueDocument({ body: ADA })
    const { documents } = await client.listDocuments({ query: { limit: 1 } })
    expect(documents.length).toBe(1)
    expect((await client.listEvents({ query: { limit: 1 } })).events.length).toBe(1)
  })

  test('issues a new document with each call, but the same one with the same key', async () => {
    const [one, other] = await Promise.all([
      client.issueDocument({ body: ADA }),
      client.issueDocument({ body: ADA }),
    ])
    expect(one.publicId).not.toBe(other.publicId)
    const idempotencyKey = 'order 4711'
    const first = await client.issueDocument({ body: ADA, idempotencyKey })
    const again = await client.issueDocument({ body: ADA, idempotencyKey })
    expect(again.publicId).toBe(first.publicId)
  })

  test('issues and revokes many, with a result for each', async () => {
    const issued = []
    const body = [ADA, { ...ADA, subjectId: 'x' }]
    for await (const line of client.issueBatch({ body })) issued.push(line)
    expect(issued).toMatchObject([
      { line: 1, success: true, data: { status: 'valid' } },
      { line: 2, success: false, error: { code: 'bad_fields' } },
    ])
    const [first] = issued
    const publicId = first?.success && 'publicId' in first.data ? first.data.publicId : ''
    const again = []
    for await (const line of client.issueBatch({ body: [ADA], query: { dry_run: 'true' } }))
      again.push(line)
    expect(again).toMatchObject([{ data: { status: 'checked', batch: { size: 1 } } }])
    const revoked = []
    for await (const line of client.revokeDocuments({ body: [{ publicId }] })) revoked.push(line)
    expect(revoked).toMatchObject([
      { line: 1, success: true, data: { publicId, status: 'revoked' } },
    ])
    const empty = client.revokeDocuments({ body: [] })
    await expect(empty.next()).rejects.toMatchObject({ code: 'bad_fields', status: 422 })
  })

  test('does not wait for a block when asked not to', async () => {
    const { status } = await client.issueDocument({ body: ADA, prefer: 'respond-async' })
    expect(status).toBe('pending')
  })

  test('reports the code, the bad fields and the request', async () => {
    const bad = client.issueDocument({ body: { ...ADA, subjectId: 'x' } })
    await expect(bad).rejects.toMatchObject({
      name: 'CallError',
      code: 'bad_fields',
      status: 422,
      details: [{ field: 'subjectId', message: 'must be 1 to 64 digits 0-9' }],
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    const stranger = createClient({ baseUrl: stack.url, apiKey: 'x' })
    await expect(stranger.issueDocument({ body: ADA })).rejects.toMatchObject({
      code: 'unauthorized',
      status: 401,
    })
  })
})

describe('a service that fails', () => {
  let server: TestServer
  afterEach(() => server.close())

  const DONE = { success: true, data: { publicId: 'x' } }
  const BUSY = {
    success: false,
    data: {},
    error: { code: 'overloaded', message: 'too much is waiting', requestId: '7' },
  }
  const UNKNOWN = { ...BUSY, error: { ...BUSY.error, code: 'outcome_unknown' } }
  type Step = (response: ServerResponse) => void
  const json =
    (status: number, body: object): Step =>
    (response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const lose: Step = (response) => response.destroy()
  const hang: Step = () => {}

  /** @returns A client of a server that takes these steps, and the requests that it got. */
  async function clientOf(steps: Step[], options: object = {}) {
    const requests: IncomingMessage[] = []
    server = await serveHttp((request, response) => {
      requests.push(request)
      request.resume()
      steps[Math.min(requests.length, steps.length) - 1]?.(response)
    })
    const client = createClient({ baseUrl: server.url, apiKey: 'k', backOffMs: 1, ...options })
    return { client, requests }
  }

  test('repeats issuing with the same Idempotency-Key, also after a lost answer', async () => {
    const { client, requests } = await clientOf([json(503, BUSY), lose, json(201, DONE)])
    await expect(client.issueDocument({ body: ADA })).resolves.toEqual(DONE.data)
    const keys = requests.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(1)
    expect(keys[0]).toMatch(/^"[0-9a-f-]{36}"$/)
  })

  test('repeats an attempt that takes too long', async () => {
    const { client, requests } = await clientOf([hang, json(201, DONE)], { timeoutMs: 300 })
    await expect(client.issueDocument({ body: ADA })).resolves.toEqual(DONE.data)
    expect(requests).toHaveLength(2)
  })

  test('does not repeat a change whose answer was lost', async () => {
    const { client, requests } = await clientOf([lose])
    const call = client.revokeDocument({ path: { publicId: 'x' }, body: {} })
    await expect(call).rejects.toMatchObject({ code: 'no_answer', status: undefined })
    expect(requests).toHaveLength(1)
    expect(requests[0]?.headers['idempotency-key']).toBeUndefined()
  })

  test('treats an unknown outcome as a lost answer', async () => {
    const { client, requests } = await clientOf([json(503, UNKNOWN), json(201, DONE)])
    await expect(client.issueDocument({ body: ADA })).resolves.toEqual(DONE.data)
    expect(requests).toHaveLength(2)
    expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  })

  test('does not repeat a change of unknown outcome, and says so', async () => {
    const { client, requests } = await clientOf([json(503, UNKNOWN)])
    const call = client.revokeDocument({ path: { publicId: 'x' }, body: {} })
    await expect(call).rejects.toMatchObject({
      name: 'CallError',
      code: 'no_answer',
      status: 503,
      requestId: '7',
    })
    expect(requests).toHaveLength(1)
  })

  test('sends a batch again with the same Idempotency-Key; reports an interrupted one', async () => {
    const begin: Step = (response) => {
      response.writeHead(201, { 'content-type': 'application/x-ndjson' })
      response.write('{"line":1,"success":true,"data":{}}\n{"line":2')
      setImmediate(() => response.destroy())
    }
    const { client, requests } = await clientOf([json(503, BUSY), lose, begin])
    const lines = client.issueBatch({ body: [ADA, ADA] })
    expect((await lines.next()).value).toEqual({ line: 1, success: true, data: {} })
    await expect(lines.next()).rejects.toMatchObject({ code: 'no_answer' })
    const keys = requests.map(({ headers }) => headers['idempotency-key'])
    expect([keys.length, new Set(keys).size]).toEqual([3, 1])
    expect(requests[0]?.headers['content-type']).toBe('application/x-ndjson')
  })

  test('gives up after the maximum of attempts', async () => {
    const { client, requests } = await clientOf([json(503, BUSY)], { maxAttempts: 3 })
    await expect(client.checkHealth()).rejects.toMatchObject({ code: 'overloaded', status: 503 })
    expect(requests).toHaveLength(3)
  })

  test('does not accept another page as an answer', async () => {
    const { client, requests } = await clientOf([json(404, {})])
    await expect(client.checkHealth()).rejects.toMatchObject({ code: 'not_understood' })
    expect(requests).toHaveLength(1)
  })

  test('waits as long as Retry-After says, unless the caller aborts', async () => {
    const { client, requests } = await clientOf([
      (response) =>
        response
          .writeHead(429, { 'retry-after': '20', 'content-type': 'application/json' })
          .end(JSON.stringify(BUSY)),
    ])
    const stop = new AbortController()
    const call = client.checkHealth({ signal: stop.signal })
    const ended = expect(call).rejects.toThrow('stopped')
    await expect.poll(() => requests.length).toBe(1)
    // Without the header, the next attempt would come at once.
    await new Promise((resolve) => setTimeout(resolve, 200))
    stop.abort(new Error('stopped'))
    await ended
    expect(requests).toHaveLength(1)
  })
})
