import { hash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { describeDatabases } from '#test/support/databases.ts'
import { ADA, API_KEY, type Stack, startStack } from '#test/support/stack.ts'

const METADATA = {
  display: [{ locale: 'de', name: 'Studienabschluss' }],
  claims: [
    {
      path: ['metadata', 'degree'],
      display: [{ locale: 'de', label: 'Abschluss' }],
      mandatory: true,
      document_registry: { type: 'choice', choices: ['Bachelor', 'Master'] },
    },
  ],
}
const DIPLOMA = { ...ADA, category: 'diploma' }
const MASTER = { ...DIPLOMA, metadata: { degree: 'Master' } }

describeDatabases('kinds', (settings) => {
  let stack: Stack
  beforeAll(async () => {
    stack = await startStack({ ...(await settings()), WAIT_SECONDS: '15' })
  })
  afterAll(() => stack.stop())
  afterEach(() => send('DELETE', '/v1/kinds/diploma'))

  const send = (method: string, path: string, body?: unknown, key = API_KEY) =>
    stack.request(path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const put = (metadata: object = METADATA, query = '') =>
    send('PUT', `/v1/kinds/diploma${query}`, metadata)
  const read = async (path: string) => {
    const response = await fetch(path)
    return { response, bytes: new Uint8Array(await response.arrayBuffer()) }
  }

  test('issues a document only if it fits its kind', async () => {
    expect((await put()).status).toBe(200)
    const { status, body } = await stack.issue({ ...DIPLOMA, metadata: { degre: 'Master' } })
    expect(status).toBe(422)
    expect(body.error.details.map(({ field }: { field: string }) => field)).toEqual([
      'metadata.degree',
      'metadata.degre',
    ])
    expect((await stack.issue(MASTER)).status).toBe(201)
    expect((await stack.issue({ ...ADA, metadata: { degre: 'x' } })).status).toBe(201)
  })

  test('lists and removes kinds', async () => {
    const { body } = await put()
    expect(body.data).toMatchObject({
      category: 'diploma',
      metadata: { display: METADATA.display },
    })
    expect((await send('GET', '/v1/kinds')).body.data.kinds).toEqual([body.data])
    expect((await send('DELETE', '/v1/kinds/diploma')).status).toBe(200)
    expect((await send('GET', '/v1/kinds')).body.data.kinds).toEqual([])
    expect((await send('DELETE', '/v1/kinds/diploma')).status).toBe(404)
    expect((await stack.issue(DIPLOMA)).status).toBe(201)
  })

  test('everybody can read each version at its vct, which never changes', async () => {
    const first = (await put()).body.data
    const { vct } = first.metadata
    expect(vct).toBe(`${stack.url}/v1/types/1/diploma/${first.version}`)
    const { response, bytes } = await read(vct)
    expect(JSON.parse(Buffer.from(bytes).toString())).toEqual(first.metadata)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none'",
      'content-type': 'application/json',
    })
    const second = (await put({ ...METADATA, claims: [] })).body.data
    expect(second.version).toBe(first.version + 1)
    expect((await read(vct)).bytes).toEqual(bytes)
    const current = await read(`${stack.url}/v1/types/1/diploma`)
    expect(JSON.parse(Buffer.from(current.bytes).toString())).toEqual(second.metadata)
    expect((await send('DELETE', '/v1/kinds/diploma')).status).toBe(200)
    expect(hash('sha256', (await read(vct)).bytes)).toBe(hash('sha256', bytes))
    for (const path of ['1/diploma', '2/diploma/1', '1/diploma/0', '1/diploma/999', '1/x%2e/1'])
      expect((await send('GET', `/v1/types/${path}`)).status, path).toBe(404)
  })

  test('storing the same kind again makes no version', async () => {
    const { body } = await put()
    const again = await put(body.data.metadata)
    expect(again.body.data).toEqual(body.data)
  })

  test('refuses a change of an older version', async () => {
    const { version } = (await put(METADATA, '?version=0')).body.data
    for (const query of ['?version=0', `?version=${version + 1}`]) {
      expect((await put({ ...METADATA, claims: [] }, query)).body.error?.code).toBe('kind_changed')
      const removed = await send('DELETE', `/v1/kinds/diploma${query}`)
      expect(removed.body.error.code).toBe('kind_changed')
    }
    expect((await put({ ...METADATA, claims: [] }, `?version=${version}`)).status).toBe(200)
    expect((await put(METADATA, '?version=x')).body.error.code).toBe('bad_query')
  })

  test('names every bad member, and the category of the path', async () => {
    const { status, body } = await put({ display: [], claims: [{ path: ['x'] }], extends: 'y' })
    expect([status, body.error.details.map(({ field }: { field: string }) => field)]).toEqual([
      422,
      ['display', 'claims.0.path', 'extends'],
    ])
    expect((await send('PUT', '/v1/kinds/Diploma', METADATA)).status).toBe(422)
    expect((await put({ ...METADATA, document_registry: { category: 'permit' } })).status).toBe(422)
  })

  test.each([
    ['too long', `{"name":"${'x'.repeat(65_536)}"}`, 'too_large'],
    ['too deep', `{"display":${'['.repeat(40)}${']'.repeat(40)}}`, 'bad_json'],
    ['a prototype', '{"__proto__":{"admin":true}}', 'bad_json'],
    ['a key twice', '{"display":[],"display":[]}', 'bad_json'],
    ['no object', '[]', 'bad_fields'],
    ['itself extended', '{"extends":"/v1/types/1/diploma"}', 'bad_fields'],
    [
      'text that turns around',
      JSON.stringify({ display: [{ locale: 'en', name: 'a\u202eb' }] }),
      'bad_fields',
    ],
  ])('refuses a file that is %s', async (_, body, code) => {
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
    const answer = await stack.request('/v1/kinds/diploma', { method: 'PUT', headers, body })
    expect(answer.body.error.code).toBe(code)
  })

  test('only administrators change kinds; issuers of documents can read them', async () => {
    const issuer = stack.key(['documents:issue'])
    const reader = stack.key(['verify'])
    expect((await send('PUT', '/v1/kinds/diploma', METADATA, issuer)).status).toBe(403)
    expect((await send('DELETE', '/v1/kinds/diploma', undefined, issuer)).status).toBe(403)
    expect((await send('GET', '/v1/kinds', undefined, issuer)).status).toBe(200)
    expect((await send('GET', '/v1/kinds', undefined, reader)).status).toBe(403)
  })

  test('a repeat from before a change returns its document, and issues nothing', async () => {
    const first = await stack.issue(DIPLOMA, { 'idempotency-key': 'before' })
    await put()
    const again = await stack.issue(DIPLOMA, { 'idempotency-key': 'before' })
    expect([again.status, again.body.data.publicId]).toEqual([201, first.body.data.publicId])
    const other = await stack.issue(DIPLOMA, { 'idempotency-key': 'after' })
    expect([other.status, other.body.error.code]).toEqual([422, 'bad_fields'])
  })

  test('a successor must fit too', async () => {
    const { publicId } = (await stack.issue(DIPLOMA)).body.data
    await put()
    const path = `/v1/documents/${publicId}/supersede`
    expect((await send('POST', path, DIPLOMA)).body.error.code).toBe('bad_fields')
    expect((await send('POST', path, MASTER)).status).toBe(201)
  })

  test('refuses a run with a row that does not fit', async () => {
    await put()
    const { status, body } = await stack.request('/v1/runs', {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/x-ndjson' },
      body: [MASTER, DIPLOMA].map((one) => `${JSON.stringify(one)}\n`).join(''),
    })
    expect([status, body.error.details]).toEqual([
      422,
      [{ field: 'line 2: metadata.degree', message: 'is required' }],
    ])
  })

  test('judges a batch by the kinds of its first request', async () => {
    const batch = () =>
      stack.request('/v1/batches', {
        method: 'POST',
        headers: {
          authorization: `Bearer ${API_KEY}`,
          'content-type': 'application/x-ndjson',
          'idempotency-key': 'batch',
        },
        body: [MASTER, DIPLOMA].map((one) => `${JSON.stringify(one)}\n`).join(''),
      })
    const linesOf = (bytes: Uint8Array) =>
      Buffer.from(bytes)
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    await put()
    const first = linesOf((await batch()).body)
    expect(first.map(({ success }) => success)).toEqual([true, false])
    expect(first[1].error.details[0].field).toBe('metadata.degree')
    await send('DELETE', '/v1/kinds/diploma')
    const again = linesOf((await batch()).body)
    expect(again.map(({ success }) => success)).toEqual([true, false])
    expect(again[0].data.publicId).toBe(first[0].data.publicId)
  })
})
