import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import { toHex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import { ApiError } from '#http/core/errors.ts'
import { parseIssueBody } from '#http/resources/issue-body.ts'
import { ADA, API_KEY, type Stack, startStack } from '../../support/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.stop())

const NEVER_ISSUED = golden.documents[0]?.publicId ?? ''

const ROUTES = [
  { method: 'POST', path: '/v1/documents', scope: 'documents:issue' },
  { method: 'POST', path: '/api/documents', scope: 'documents:issue' },
  {
    method: 'GET',
    path: `/v1/verify?publicId=${NEVER_ISSUED}`,
    scope: 'verify',
  },
  {
    method: 'GET',
    path: `/api/verify?publicId=${NEVER_ISSUED}`,
    scope: 'verify',
  },
  {
    method: 'GET',
    path: `/v1/documents/${NEVER_ISSUED}/bundle`,
    scope: 'documents:read',
  },
] as const

describe.each(ROUTES)('$method $path', ({ method, path, scope }) => {
  const send = (authorization?: string) =>
    stack.request(path, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(authorization && { authorization }),
      },
      ...(method === 'POST' && { body: JSON.stringify(ADA) }),
    })

  test.each([
    ['no key', undefined],
    ['an unknown key', 'Bearer drk_unknown'],
    ['another scheme', `Basic ${API_KEY}`],
    ['the key alone', API_KEY],
    ['an empty key', 'Bearer '],
    ['the key twice', `Bearer ${API_KEY}, Bearer ${API_KEY}`],
    ['half of the key', `Bearer ${API_KEY.slice(0, -1)}`],
  ])('answers 401 for %s', async (_, authorization) => {
    const { status, headers, body } = await send(authorization)
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toMatch(/^Bearer/)
    expect(body).toEqual({
      success: false,
      data: {},
      error: {
        code: 'unauthorized',
        message: expect.any(String),
        requestId: expect.any(String),
      },
    })
  })

  test('refuses a key without the scope', async () => {
    const other = scope === 'verify' ? 'documents:issue' : 'verify'
    const { status, headers, body } = await send(`Bearer ${stack.key([other])}`)
    expect(status).toBe(403)
    expect(headers.get('www-authenticate')).toContain('insufficient_scope')
    expect(body.error.code).toBe('forbidden')
  })

  test('accepts a key with only the scope', async () => {
    const { status } = await send(`Bearer ${stack.key([scope])}`)
    expect(status).toBe(method === 'POST' ? 201 : 200)
  })

  test('refuses another method', async () => {
    const { status, headers, body } = await stack.request(path, {
      method: 'DELETE',
    })
    expect(status).toBe(405)
    expect(headers.get('allow')).toContain(method)
    expect(body.error.code).toBe('method_not_allowed')
  })
})

test('names every bad field at once', async () => {
  const { status, body } = await stack.issue({
    subjectName: '',
    subjectId: 'x',
    category: 'Not Snake',
    issuedAt: '2026-13-01',
    expiresAt: 'never',
    metadata: { gpa: 3.9, school: 'Testville', tags: [] },
    unknown: true,
  })
  expect(status).toBe(422)
  expect(body.error.code).toBe('bad_fields')
  const named = body.error.details.map(({ field }: { field: string }) => field)
  expect(named.sort()).toEqual([
    'category',
    'expiresAt',
    'issuedAt',
    'metadata.gpa',
    'metadata.tags',
    'subjectId',
    'subjectName',
    'unknown',
  ])
  for (const { message } of body.error.details) expect(message).not.toMatch(/Not Snake|2026-13-01/)
})

test('refuses names that RFC 9901 reserves', async () => {
  const metadata = { _sd: 'x', '...': 'x', _sd_alg: 'x' }
  const { status, body } = await stack.issue({ ...ADA, metadata })
  expect(status).toBe(422)
  expect(body.error.details).toEqual([
    { field: 'metadata._sd', message: 'must not use this key' },
    { field: 'metadata....', message: 'must not use this key' },
  ])
})

test('refuses a supersedes in the body', async () => {
  const supersedes = `0x${'09af'.repeat(16)}`
  const { status, body } = await stack.issue({ ...ADA, supersedes })
  expect(status).toBe(422)
  expect(body.error.details).toEqual([
    { field: 'supersedes', message: 'is not a field of a document' },
  ])
})

test.each<[string, object]>([
  ['toString', { a: { toString: '7' } }],
  ['valueOf', { a: { valueOf: [], toString: null } }],
  ['toJSON', { a: { toJSON: { toJSON: 1 } } }],
])('reports metadata with an object named %s as a bad field', async (_, metadata) => {
  const { status, body } = await stack.issue({ ...ADA, metadata })
  expect(status).toBe(422)
  expect(body.error.details).toEqual([{ field: 'metadata.a', message: 'must be a string' }])
})

test('limits the names of bad entries in an answer', async () => {
  const metadata = Object.fromEntries(
    Array.from({ length: 500 }, (_, i) => [`${i}😀`.repeat(4), 1]),
  )
  const { status, body } = await stack.issue({
    ...ADA,
    metadata: { ['😀'.repeat(5_000)]: 1, ...metadata },
  })
  expect(status).toBe(422)
  // Those of 64 entries, and that there are too many.
  expect(body.error.details.length).toBeLessThan(70)
  for (const { field } of body.error.details) {
    expect(field.isWellFormed()).toBe(true)
    expect([...field].length).toBeLessThanOrEqual('metadata.'.length + 65)
  }
})

describe('rules of the API on top of the format', () => {
  const daysAhead = (days: number) =>
    new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

  test('names every bad field once, whichever rule it breaks', async () => {
    const { status, body } = await stack.issue({
      subjectName: ' \u3000\u200b ',
      subjectId: 'x',
      category: 'birth_certificate',
      issuedAt: '2999-01-01',
      expiresAt: '2998-01-01',
    })
    expect(status).toBe(422)
    expect(body.error.code).toBe('bad_fields')
    expect(body.error.details).toHaveLength(4)
    const messages = Object.fromEntries(
      body.error.details.map((d: { field: string; message: string }) => [d.field, d.message]),
    )
    expect(messages).toEqual({
      subjectName: 'must have at least one letter, digit, punctuation mark or symbol',
      subjectId: expect.any(String),
      expiresAt: 'must not be before issuedAt',
      issuedAt: 'must be at most 366 days after today (UTC)',
    })
  })

  test.each(['   ', '\u00a0', '\u200b', '\u0301', '\u{e000}', '\u3164', '\u1160\uffa0', '\u2800'])(
    'refuses a name without a visible character: %j',
    async (subjectName) => {
      const { status, body } = await stack.issue({ ...ADA, subjectName })
      expect(status).toBe(422)
      expect(body.error.details).toEqual([{ field: 'subjectName', message: expect.any(String) }])
    },
  )

  test.each(['李', '7', '?', '€', '👑', ' é '])('accepts the name %j', async (subjectName) => {
    const { status, body } = await stack.issue({ ...ADA, subjectName })
    expect(status).toBe(201)
    expect(body.data.subjectName).toBe(subjectName)
  })

  test('accepts a date 366 days ahead, but not 368', async () => {
    const last = await stack.issue({ ...ADA, issuedAt: daysAhead(366) })
    expect(last.status).toBe(201)
    // One day more could be the last good one by the time that it arrives.
    const late = await stack.issue({ ...ADA, issuedAt: daysAhead(368) })
    expect(late.status).toBe(422)
    expect(late.body.error.details).toEqual([{ field: 'issuedAt', message: expect.any(String) }])
  })

  test('the latest allowed date follows the day in UTC', () => {
    const fields = (issuedAt: string) => ({ ...ADA, issuedAt })
    const first = Date.parse('2026-11-21T00:00:00Z')
    for (const now of [first, first + 86_399_999]) {
      expect(parseIssueBody(fields('2027-11-22'), { now })).toBeTruthy()
      expect(() => parseIssueBody(fields('2027-11-23'), { now })).toThrow(ApiError)
    }
    const next = first + 86_400_000
    expect(parseIssueBody(fields('2027-11-23'), { now: next })).toBeTruthy()
  })

  test('?dry_run=1 issues nothing', async () => {
    const headers = {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
      'idempotency-key': 'not-yet',
    }
    const post = (query: string) =>
      stack.request(`/v1/documents${query}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(ADA),
      })
    const refused = await post('?dry_run=1')
    expect([refused.status, refused.body.error.code]).toEqual([400, 'bad_query'])
    const first = await post('?wait=included')
    expect(first.status).toBe(201)
    expect(first.headers.get('idempotency-replayed')).toBeNull()
  })
})

describe('bodies', () => {
  const post = (body: string | Uint8Array, headers: object = {}) =>
    stack.request('/v1/documents', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${API_KEY}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: body as BodyInit,
    })

  test.each<[string, string | Uint8Array, number, string]>([
    ['nothing', '', 400, 'bad_json'],
    ['not JSON', '{"subjectName":', 400, 'bad_json'],
    ['not UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 400, 'bad_json'],
    ['two byte order marks', `\ufeff\ufeff${JSON.stringify(ADA)}`, 400, 'bad_json'],
    ['a key twice', '{"subjectId":"1","subjectId":"2"}', 400, 'bad_json'],
    ['__proto__', '{"__proto__":{}}', 400, 'bad_json'],
    ['half a surrogate pair', '{"subjectName":"\\ud800"}', 400, 'bad_json'],
    ['null', 'null', 422, 'bad_fields'],
    ['an array', '[]', 422, 'bad_fields'],
    ['deeply nested', `${'['.repeat(30_000)}${']'.repeat(30_000)}`, 400, 'bad_json'],
    ['64 KiB and a byte', ' '.repeat(64 * 1024 + 1), 413, 'too_large'],
  ])('%s', async (_, body, status, code) => {
    const answer = await post(body)
    expect(answer.status).toBe(status)
    expect(answer.body.error.code).toBe(code)
  })

  test('accepts exactly 64 KiB', async () => {
    const text = JSON.stringify(ADA)
    const answer = await post(text + ' '.repeat(64 * 1024 - text.length))
    expect(answer.status).toBe(201)
  })

  test.each([
    ['text/plain', {}],
    ['application/x-www-form-urlencoded', {}],
    ['application/jsonp', {}],
    ['application/json; charset=utf-16', {}],
    ['application/json', { 'content-encoding': 'gzip' }],
  ])('refuses content type %s %o', async (type, headers) => {
    const answer = await post(JSON.stringify(ADA), {
      'content-type': type,
      ...headers,
    })
    expect(answer.status).toBe(415)
    expect(answer.body.error.code).toBe('not_json')
  })

  test.each([
    ['documents', 'application/json', () => [ADA], 201],
    ['batches?dry_run=true', 'application/x-ndjson', () => [ADA, ADA], 200],
    ['batches', 'application/x-ndjson', () => [ADA, { ...ADA, subjectId: '2' }], 201],
    ['runs', 'application/x-ndjson', () => [ADA, ADA], 202],
    ['revocations', 'application/x-ndjson', (publicId: string) => [{ publicId }], 200],
    ['revocations', 'application/json', (publicId: string) => [[{ publicId }]], 200],
  ])('ignores byte order marks: %s %s', async (path, type, of, status) => {
    const { publicId } = (await stack.issue(ADA)).body.data
    const sent = of(publicId)
    const answer = await fetch(`${stack.url}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': type },
      body: sent.map((one) => `\ufeff${JSON.stringify(one)}`).join('\r\n'),
    })
    const lines = (await answer.text()).trim().split('\n')
    expect(answer.status).toBe(status)
    expect(lines.map((line) => JSON.parse(line).success)).toEqual(
      (path === 'runs' ? [0] : sent).map(() => true),
    )
  })

  test('accepts application/json; charset=utf-8', async () => {
    const answer = await post(JSON.stringify(ADA), {
      'content-type': 'application/json; charset=UTF-8',
    })
    expect(answer.status).toBe(201)
  })

  test('refuses a body that is too large without a Content-Length', async () => {
    const status = await new Promise((resolve, reject) => {
      const request = httpRequest(`${stack.url}/v1/documents`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${API_KEY}`,
          'content-type': 'application/json',
          'transfer-encoding': 'chunked',
        },
      })
      request.on('response', (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      request.on('error', reject)
      for (let i = 0; i < 70; i++) request.write(' '.repeat(1024))
      request.end()
    })
    expect(status).toBe(413)
  })
})

describe('verify', () => {
  const get = (query: string) =>
    stack.request(`/v1/verify${query}`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    })

  test.each([
    ['', 'bad_query'],
    ['?publicId=', 'bad_public_id'],
    ['?publicId=nonsense', 'bad_public_id'],
    [`?publicId=${NEVER_ISSUED}&publicId=${NEVER_ISSUED}`, 'bad_query'],
    [`?publicId=${NEVER_ISSUED}&asof=1`, 'bad_query'],
    [`?publicId=${NEVER_ISSUED.slice(0, -1)}2`, 'bad_public_id'],
    [`?publicId=${NEVER_ISSUED}%00`, 'bad_public_id'],
  ])('%s', async (query, code) => {
    const { status, body } = await get(query)
    expect(status).toBe(400)
    expect(body.error.code).toBe(code)
    expect(JSON.stringify(body)).not.toContain(NEVER_ISSUED.slice(0, 30))
  })

  test('answers for a document that was never issued', async () => {
    const { status, body } = await get(`?publicId=${NEVER_ISSUED}`)
    expect(status).toBe(200)
    expect(body.data).toMatchObject({
      valid: false,
      status: 'not_issued',
      document: null,
      blockchainProof: null,
    })
    expect(body.data.checks).toContainEqual({
      check: 'record',
      outcome: 'fail',
      code: 'not_issued',
    })
    expect(toHex(decodePublicId(NEVER_ISSUED).hash)).toBe(golden.documents[0]?.documentHash)
  })
})

test.each(['/v1', '/v2/documents', '/v1/documents/', '/..%2f', '/favicon.ico'])(
  'answers 404 for the unknown path %s',
  async (path) => {
    const { status, body } = await stack.request(path)
    expect(status).toBe(404)
    expect(body.success).toBe(false)
  },
)
