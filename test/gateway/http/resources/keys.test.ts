import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SCOPES } from '#keys/grant.ts'
import { type CapturedLog, captureLog } from '#test/support/captured-log.ts'
import { ADA, API_KEY, type Stack, startStack } from '#test/support/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.stop())

const call = (method: string, path: string, body?: unknown, key = API_KEY) =>
  stack.request(`/v1/keys${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
const create = async (body: object) => (await call('POST', '', body)).body.data
const listed = async (id: string) =>
  (await call('GET', '')).body.data.keys.find((key: { id: string }) => key.id === id)

/** 422 with a key that may issue, since every field is missing; 401 without one. */
const statusWith = async (secret: string) =>
  (await stack.issue({}, { authorization: `Bearer ${secret}` })).status

const ALL = SCOPES.filter((scope) => scope !== 'admin')
const NDJSON = 'application/x-ndjson'
const LATER = '2099-01-01T00:00:00.000Z'

test('makes a key that can be used at once, and shows its secret once', async () => {
  const body = { scopes: ['documents:issue'], tenant: 'desk', label: 'Front desk', rateLimit: 50 }
  const { status, body: answer } = await call('POST', '', { ...body, expiresAt: LATER })
  expect(status).toBe(201)
  const { secret, ...key } = answer.data
  expect(key).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{12}$/),
    createdAt: expect.any(String),
    ...body,
    categories: null,
    expiresAt: LATER,
    lastUsedAt: null,
    replacedBy: null,
  })
  expect(await statusWith(secret)).toBe(422)
  expect(await listed(key.id)).toEqual({ ...key, lastUsedAt: (await listed(key.id)).lastUsedAt })
  const list = JSON.stringify((await call('GET', '')).body)
  expect(list).not.toContain(secret)
  expect(list).not.toContain('digest')
})

test('retrieves one key, without its secret', async () => {
  const { id, secret, ...key } = await create({ scopes: ['verify'], label: 'One' })
  const { status, body } = await call('GET', `/${id}`)
  expect(status).toBe(200)
  expect(body.data).toEqual({ id, ...key })
  expect(JSON.stringify(body)).not.toContain(secret)
})

test('refuses a revoked key from the next request on', async () => {
  const { id, secret } = await create({ scopes: ['documents:issue'] })
  expect(await statusWith(secret)).toBe(422)
  expect((await call('DELETE', `/${id}`)).body.data).toEqual({ id, deleted: true })
  expect(await statusWith(secret)).toBe(401)
  expect((await call('DELETE', `/${id}`)).status).toBe(404)
})

test('rotation makes a key of the same tenant, and says when the old one ends', async () => {
  const old = await create({ scopes: ['documents:issue'], tenant: 'desk' })
  const { status, body } = await call('POST', `/${old.id}/rotate`, { overlapSeconds: 3600 })
  expect(status).toBe(201)
  const { id, secret, tenant, replaces } = body.data
  expect([tenant, replaces.id]).toEqual(['desk', old.id])
  expect(await listed(old.id)).toMatchObject({ replacedBy: id, expiresAt: replaces.expiresAt })
  for (const key of [old.secret, secret]) expect(await statusWith(key)).toBe(422)
  // The same request with either key is the same document: they share idempotency keys.
  const issue = (key: string) =>
    stack.issue(ADA, { authorization: `Bearer ${key}`, 'idempotency-key': 'rotated' })
  const [first, second] = [await issue(old.secret), await issue(secret)]
  expect(second.body.data.publicId).toBe(first.body.data.publicId)
  const again = await call('POST', `/${old.id}/rotate`, {})
  expect([again.status, again.body.error.code]).toEqual([409, 'already_rotated'])
  const last = await call('POST', `/${id}/rotate`, { overlapSeconds: 0 })
  expect(await statusWith(secret)).toBe(401)
  expect(await statusWith(last.body.data.secret)).toBe(422)
})

test('a change applies from the next request on', async () => {
  const { id, secret } = await create({ scopes: ['documents:issue'], categories: ['diploma'] })
  const issue = () => stack.issue(ADA, { authorization: `Bearer ${secret}` })
  expect((await issue()).body.error.code).toBe('category_not_allowed')
  const changed = await call('PATCH', `/${id}`, { categories: null, label: 'x' })
  expect(changed.body.data).toMatchObject({ id, categories: null, label: 'x' })
  expect((await issue()).status).toBe(201)
  await call('PATCH', `/${id}`, { scopes: ['verify'] })
  expect((await issue()).body.error.code).toBe('forbidden')
  expect(await listed(id)).toMatchObject({ scopes: ['verify'], label: 'x' })
})

describe('a list of categories', () => {
  const CHANGES = ['revoke', 'suspend', 'release', 'supersede'] as const
  const post = async (path: string, body: object, key: string) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    return stack.request(path, { method: 'POST', headers, body: JSON.stringify(body) })
  }
  const limited = async () =>
    (await create({ scopes: [...ALL], categories: ['birth_certificate'] })).secret
  const issue = async (fields: object) => (await stack.issue(fields)).body.data

  test('limits every change of a document', async () => {
    const key = await limited()
    const { publicId, documentHash } = await issue({ ...ADA, category: 'diploma' })
    const refused = 'category_not_allowed'
    for (const name of [publicId, documentHash])
      for (const change of CHANGES) {
        const body = change === 'supersede' ? ADA : {}
        const answer = await post(`/v1/documents/${name}/${change}`, body, key)
        expect([change, answer.body.error?.code]).toEqual([change, refused])
      }
    const lines = await post('/v1/revocations', [{ documentHash }], key)
    expect(Buffer.from(lines.body).toString()).toContain(refused)
    const erased = await stack.request(`/v1/documents/${publicId}/payload`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${key}` },
    })
    expect(erased.body.error.code).toBe(refused)
    expect((await stack.verify(publicId)).body.data.valid).toBe(true)
  })

  test('leaves documents of its categories to the key', async () => {
    const key = await limited()
    const { publicId } = await issue(ADA)
    const revoked = await post(`/v1/documents/${publicId}/revoke`, {}, key)
    expect(revoked.body.data.status).toBe('revoked')
    const other = await issue({ ...ADA, category: 'diploma' })
    const path = `/v1/documents/${other.publicId}`
    const read = await stack.request(path, { headers: { authorization: `Bearer ${key}` } })
    expect(read.status).toBe(200)
  })

  test('a whole batch may have other categories', async () => {
    const key = await limited()
    const { status, body } = await stack.request('/v1/batches', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
      body: JSON.stringify(ADA),
    })
    const { batchRoot, documentHash } = JSON.parse(Buffer.from(body).toString()).data
    expect(status).toBe(201)
    const whole = await post(`/v1/batches/${batchRoot}/revoke`, {}, key)
    expect(whole.body.error.code).toBe('category_not_allowed')
    const one = await post(`/v1/documents/${documentHash}/revoke`, {}, key)
    expect(one.body.data.status).toBe('revoked')
  })
})

describe('a key that is revoked while its request comes in', () => {
  /** Sends a body in two parts, and revokes the key between them. */
  async function sendRevoked(path: string, type: string, parts: [string, string]) {
    const { id, secret } = await create({ scopes: [...ALL], tenant: 'leaves' })
    async function* body() {
      yield Buffer.from(parts[0])
      // Longer than a key is in memory.
      await sleep(1_200)
      await call('DELETE', `/${id}`)
      yield Buffer.from(parts[1])
    }
    const init = { method: 'POST', body: body(), duplex: 'half' } as unknown as RequestInit
    const headers = { authorization: `Bearer ${secret}`, 'content-type': type }
    return stack.request(path, { ...init, headers })
  }
  const lines = (...documents: object[]) =>
    documents.map((one) => `${JSON.stringify(one)}\n`).join('')

  test.each<[string, string, string, [string, string]]>([
    ['a batch', '/v1/batches', NDJSON, [lines(ADA), lines({ ...ADA, subjectId: '2' })]],
    ['a document', '/v1/documents', 'application/json', ['{', JSON.stringify(ADA).slice(1)]],
  ])('issues no more: %s', async (_, path, type, parts) => {
    const { status, body } = await sendRevoked(path, type, parts)
    expect([status, body.error?.code]).toEqual([401, 'unauthorized'])
    const { secret } = await create({ scopes: [...ALL], tenant: 'leaves' })
    const headers = { authorization: `Bearer ${secret}` }
    expect((await stack.request('/v1/documents', { headers })).body.data.documents).toEqual([])
  })

  test('revokes no more', async () => {
    const { documentHash, publicId } = (await stack.issue(ADA)).body.data
    const entry = JSON.stringify({ documentHash })
    const { status } = await sendRevoked('/v1/revocations', NDJSON, [entry, '\n'])
    expect(status).toBe(401)
    expect((await stack.verify(publicId)).body.data.status).toBe('valid')
  })
})

test('a key can have its own rate limit, also where others have none', async () => {
  const { secret } = await create({ scopes: ['documents:issue'], rateLimit: 2 })
  const statuses = await Promise.all(Array.from({ length: 10 }, () => statusWith(secret)))
  expect(statuses).toContain(422)
  expect(statuses).toContain(429)
})

describe('refusals', () => {
  test.each<[string, unknown, string[]]>([
    ['nothing', {}, ['scopes']],
    ['a list', [], ['']],
    [
      'every bad field',
      {
        scopes: ['all'],
        tenant: 'a b',
        label: '',
        categories: ['A B'],
        rateLimit: 0,
        expiresAt: '2020-01-01T00:00:00Z',
      },
      ['categories.0', 'expiresAt', 'label', 'rateLimit', 'scopes.0', 'tenant'],
    ],
    ['repeated scopes', { scopes: ['verify', 'verify'] }, ['scopes']],
    ['another form of time', { scopes: ['verify'], expiresAt: '2099-01-01' }, ['expiresAt']],
    [
      'a time that is in the year 10000 elsewhere',
      { scopes: ['verify'], expiresAt: '9999-12-31T23:59:59-05:00' },
      ['expiresAt'],
    ],
    ['an unknown field', { scopes: ['verify'], secret: 'mine' }, ['secret']],
    ['control characters', { scopes: ['verify'], label: 'a\u0007' }, ['label']],
    ['categories of an admin', { scopes: ['admin'], categories: ['diploma'] }, ['categories']],
  ])('names the bad fields: %s', async (_, sent, fields) => {
    const before = (await call('GET', '')).body.data.keys.length
    const { status, body } = await call('POST', '', sent)
    expect([status, body.error.code]).toEqual([422, 'bad_fields'])
    expect(body.error.details.map(({ field }: { field: string }) => field).sort()).toEqual(fields)
    expect((await call('GET', '')).body.data.keys).toHaveLength(before)
  })

  test.each([
    ['PATCH', '/nobody', {}],
    ['POST', '/nobody/rotate', {}],
    ['GET', '/nobody', undefined],
    ['DELETE', '/nobody', undefined],
  ])('%s %s is 404', async (method, path, body) => {
    const answer = await call(method, path, body)
    expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found'])
  })

  test('limits the overlap', async () => {
    const { id } = await create({ scopes: ['verify'] })
    for (const overlapSeconds of [-1, 1.5, 2_592_001, '60'])
      expect((await call('POST', `/${id}/rotate`, { overlapSeconds })).status).toBe(422)
    expect(await listed(id)).toMatchObject({ replacedBy: null })
  })
})

describe('the log', () => {
  let log: CapturedLog
  let logging: Stack
  beforeAll(async () => {
    log = captureLog()
    logging = await startStack({ LOG_LEVEL: 'debug' })
  })
  afterAll(async () => {
    await logging.stop()
    log.stop()
  })

  test('names who changed which key, and no secret', async () => {
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
    const send = async (method: string, path: string, body = '{}') =>
      (await logging.request(`/v1/keys${path}`, { method, headers, body })).body.data
    const made = await send('POST', '', '{"scopes":["verify"]}')
    const next = await send('POST', `/${made.id}/rotate`)
    await send('PATCH', `/${made.id}`)
    await logging.request(`/v1/keys/${made.id}`, { method: 'DELETE', headers })
    const by = 'environment'
    expect(log.lines('api_key_created')).toMatchObject([{ id: made.id, by }])
    expect(log.lines('api_key_rotated')).toMatchObject([{ id: made.id, to: next.id, by }])
    expect(log.lines('api_key_changed')).toMatchObject([{ id: made.id, by }])
    expect(log.lines('api_key_revoked')).toMatchObject([{ id: made.id, by }])
    for (const secret of [made.secret, next.secret, API_KEY])
      expect(log.text()).not.toContain(secret)
  })
})
