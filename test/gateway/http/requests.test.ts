import { createDecipheriv } from 'node:crypto'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import { cidOf } from '#document/cid.ts'
import { fromHex } from '#document/hex.ts'
import { aliasOf } from '#http/core/operation.ts'
import type { AppDeps } from '#http/deps.ts'
import { OPERATIONS } from '#modules/all.ts'
import type { DeskDeps } from '#modules/desk/deps.ts'
import { csrfTokenOf } from '#modules/desk/people/sessions.ts'
import { bareApp } from '../../support/bare-app.ts'
import { type CapturedLog, captureLog } from '../../support/captured-log.ts'
import { ADA, type Answer, API_KEY, type Stack, startStack } from '../../support/stack.ts'

const NEVER_ISSUED = golden.documents[0]?.publicId ?? ''
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const WITH_KEY = {
  authorization: `Bearer ${API_KEY}`,
  'content-type': 'application/json',
}

/** Every route that anyone may use; all others ask for a key. */
const PUBLIC = [
  'GET /.well-known/did.json',
  'GET /.well-known/jwt-vc-issuer',
  'GET /.well-known/oauth-authorization-server/wallets/:category',
  'GET /.well-known/openid-credential-issuer/wallets/:category',
  'GET /wallets/offers/:code',
  'POST /wallets/credential',
  'POST /wallets/nonce',
  'POST /wallets/notification',
  'POST /wallets/offers',
  'POST /wallets/token',
  'OPTIONS /.well-known/jwt-vc-issuer',
  'OPTIONS /.well-known/oauth-authorization-server/wallets/:category',
  'OPTIONS /.well-known/openid-credential-issuer/wallets/:category',
  'OPTIONS /wallets/offers',
  'OPTIONS /v1/status-lists/:list',
  'OPTIONS /v1/types/:issuerId/:category',
  'OPTIONS /v1/types/:issuerId/:category/:version',
  'GET /',
  'GET /qr/:publicId',
  'GET /ipfs/:cid',
  'GET /healthz',
  'GET /metrics',
  'GET /openapi.json',
  'GET /docs',
  'GET /readyz',
  'GET /desk',
  'GET /desk/reader',
  'GET /desk/texts/:language',
  'GET /verify',
  'OPTIONS /.well-known/did.json',
  'OPTIONS /ipfs/:cid',
  'OPTIONS /rpc',
  'POST /rpc',
  ...['/v1', '/api'].flatMap((version) => [
    `GET ${version}/session/provider/return`,
    `GET ${version}/session/ways`,
    `GET ${version}/status-lists/:list`,
    `GET ${version}/types/:issuerId/:category`,
    `GET ${version}/types/:issuerId/:category/:version`,
    `POST ${version}/session/provider`,
    `POST ${version}/session/invitation`,
    `POST ${version}/session/passkey`,
    `POST ${version}/session/passkey/options`,
  ]),
]

const ROUTES = OPERATIONS.flatMap(({ method, path, scope }) =>
  [path, aliasOf(path)].map((served) => ({ route: `${method} ${served}`, scope })),
)
const OF_SESSIONS = ROUTES.filter(({ scope }) => scope === 'session').map(({ route }) => route)

describe('unknown query parameters', () => {
  const person = { id: 'ada', name: 'Ada', role: 'clerk', tenant: 'default' }
  const sessions = { find: async (secret: string) => secret === 'drs_x' && { person } }
  const { app } = bareApp({ sessions: sessions as unknown as DeskDeps['sessions'] })
  const routes = new Set(
    app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path}`),
  )
  const authorized = [...routes].filter((route) => !PUBLIC.includes(route))
  const send = (route: string, query: string, headers: object = WITH_KEY) => {
    const [method = '', path = ''] = route.split(' ')
    return app.request(path.replace(':publicId', NEVER_ISSUED) + query, {
      method,
      headers: { ...headers },
      ...(method === 'POST' && { body: JSON.stringify(ADA) }),
    })
  }

  const WITH_SESSION = { cookie: 'docreg_session=drs_x', 'x-csrf-token': csrfTokenOf('drs_x') }

  test('the list has the routes that require an API key', () => {
    expect(PUBLIC.filter((route) => !routes.has(route))).toEqual([])
    expect(authorized.sort()).toEqual(
      ROUTES.filter(({ scope }) => scope !== 'public')
        .map(({ route }) => route)
        .sort(),
    )
  })

  test.each(authorized)('%s refuses a request without a key', async (route) => {
    const response = await send(route, '?dry_run=1', {})
    expect(response.status).toBe(401)
  })

  test.each(authorized)('%s refuses ?dry_run=1 before it changes anything', async (route) => {
    for (const query of ['?dry_run=1', '?dry_run', '?wait=now&dry_run=0&x=']) {
      const headers = OF_SESSIONS.includes(route) ? WITH_SESSION : WITH_KEY
      const response = await send(route, query, headers)
      expect(response.status).toBe(400)
      const { error } = (await response.json()) as Answer['body']
      expect(error.code).toBe('bad_query')
      expect(error.details).toContainEqual({
        field: 'dry_run',
        // Batches know it, with another value.
        message:
          route.endsWith('/batches') && route.startsWith('POST')
            ? 'must be true or false'
            : 'unknown parameter',
      })
    }
  })

  test.each<[string, string, string[]]>([
    ['POST /v1/documents', '?wait=safe&wait=safe', ['wait']],
    ['POST /v1/documents', '?wait=tomorrow&Wait=safe', ['Wait', 'wait']],
    ['POST /v1/documents', '?__proto__=1&constructor=1', ['__proto__', 'constructor']],
    ['POST /v1/documents', '?dry%5Frun=1&%ff=1', ['dry_run', '\ufffd']],
    ['GET /v1/verify', '', ['publicId']],
    ['GET /v1/verify', '?proof=half', ['proof', 'publicId']],
    ['GET /v1/verify', '?publicId=1&publicId=2&proof=full&proof=full', ['proof', 'publicId']],
    ['GET /v1/documents/:publicId', '?wait=safe', ['wait']],
  ])('%s%s names every bad parameter once', async (route, query, fields) => {
    const response = await send(route, query)
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as Answer['body']
    expect(error.details.map(({ field }: { field: string }) => field).sort()).toEqual(fields)
  })
})

test('neither returns nor logs the message of a bug', async () => {
  const { app, log } = bareApp({
    bundleOf(publicId) {
      throw new TypeError(`cannot read\n    at ${publicId}`)
    },
  })
  const path = `/v1/documents/${NEVER_ISSUED}/bundle`
  const response = await app.request(path, { headers: WITH_KEY })
  const { error } = (await response.json()) as Answer['body']
  expect([response.status, error.code]).toEqual([500, 'internal'])
  const bug = JSON.parse(log.find((line) => line.includes('internal_error')) ?? '')
  expect(bug).toMatchObject({ requestId: error.requestId, error: 'TypeError' })
  expect(bug.frames[0]).toMatch(/^at .*bundleOf.*requests\.test\.ts/)
  expect(JSON.stringify([log, error])).not.toContain(NEVER_ISSUED)
})

test('neither returns nor logs why a document cannot be read', async () => {
  const log = captureLog()
  const stack = await startStack({ LOG_LEVEL: 'error' })
  const { publicId } = (await stack.issue(ADA)).body.data
  const zeros = Buffer.alloc(16)
  const anyDecipher = createDecipheriv('aes-128-gcm', zeros, zeros)
  const setAAD = vi.spyOn(Object.getPrototypeOf(anyDecipher), 'setAAD')
  setAAD.mockImplementation(() => {
    throw new TypeError('Ada Lovelace is not a function')
  })
  const { status } = await stack.verify(publicId)
  setAAD.mockRestore()
  await stack.stop()
  log.stop()
  expect(status).toBe(503)
  const [bug] = log.lines('content_unreadable')
  expect(bug).toMatchObject({ error: 'TypeError', frames: expect.any(Array) })
  expect(log.text()).not.toContain('Ada Lovelace')
})

describe('over all routes', () => {
  /** One request, what is expected of it, and what stands in its line of the log. */
  type Sent = {
    method: string
    route: string
    status: number
    response: Answer
  }
  const SECRETS = { subjectName: 'Nobody Logs This', key: 'order-of-nobody' }
  let stack: Stack
  let publicId: string
  let sent: Sent[]
  let log: CapturedLog

  beforeAll(async () => {
    log = captureLog()
    stack = await startStack({ LOG_LEVEL: 'debug' })
    sent = await sendAll()
  })
  afterAll(async () => {
    await stack.stop()
    log.stop()
  })

  async function sendAll(): Promise<Sent[]> {
    const all: Sent[] = []
    const send = async (
      method: string,
      path: string,
      [route, status]: [string, number],
      headers: object = {},
      body?: unknown,
    ) => {
      const response = await stack.request(path, {
        method,
        headers: { 'x-request-id': 'of-the-client', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      all.push({ method, route, status, response })
      return response
    }
    const v1 = '/v1/documents'
    const one = `${v1}/:publicId`
    const fields = { ...ADA, subjectName: SECRETS.subjectName }
    const keyed = { ...WITH_KEY, 'idempotency-key': SECRETS.key }
    const issued = await send('POST', v1, [v1, 201], keyed, fields)
    publicId = issued.body.data.publicId
    const cid = cidOf(fromHex(issued.body.data.documentHash))
    await send('POST', v1, [v1, 202], { ...WITH_KEY, prefer: 'respond-async' }, fields)
    await send('POST', v1, [v1, 422], keyed, ADA)
    await send('POST', v1, [v1, 422], WITH_KEY, { ...fields, subjectName: '' })
    await send('POST', `${v1}?${publicId}`, [v1, 400], WITH_KEY, fields)
    await send('POST', v1, [v1, 401], { authorization: `Bearer ${publicId}` }, fields)
    await send('POST', v1, [v1, 415], { ...WITH_KEY, 'content-type': 'text/plain' }, fields)
    for (const method of ['GET', 'HEAD']) {
      await send(method, `${v1}/${publicId}`, [one, 200], WITH_KEY)
      await send(method, `/v1/verify?publicId=${publicId}`, ['/v1/verify', 200], WITH_KEY)
      await send(method, `/qr/${publicId}`, ['/qr/:publicId', 200])
      await send(method, '/', ['/', 200])
      await send(method, '/verify', ['/verify', 200])
      await send(method, '/healthz', ['/healthz', 200])
      await send(method, '/metrics', ['/metrics', 200])
      await send(method, '/readyz', ['/readyz', 200])
      await send(method, `/ipfs/${cid}?format=raw`, ['/ipfs/:cid', 200])
      await send(method, `/${publicId}`, ['*', 404])
    }
    const page = { 'sec-fetch-dest': 'document' }
    await send('GET', `/qr/${publicId}`, ['/qr/:publicId', 200], page)
    await send('GET', `/qr/${publicId}?format=${publicId}`, ['/qr/:publicId', 400])
    await send('GET', `/qr/${publicId.slice(1)}`, ['/qr/:publicId', 400])
    await send('GET', '/', ['/', 200], { accept: 'application/json' })
    await send('GET', `/ipfs/${cid}?format=raw`, ['/ipfs/:cid', 304], {
      'if-none-match': `"${cid}.raw"`,
    })
    await send('GET', `/ipfs/${publicId}`, ['/ipfs/:cid', 400])
    await send('GET', `/ipfs/${cid}`, ['/ipfs/:cid', 406])
    await send('GET', `${v1}/${NEVER_ISSUED}`, [one, 404], WITH_KEY)
    await send('GET', `${v1}/${publicId}/bundle`, [`${one}/bundle`, 200], WITH_KEY)
    await send('GET', `${v1}/${publicId}/bundle/${publicId}`, ['*', 404], WITH_KEY)
    await send('DELETE', `${v1}/${publicId}?publicId=${publicId}`, [one, 405], WITH_KEY)
    const block = {
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_blockNumber',
      params: [],
    }
    await send('POST', '/rpc', ['/rpc', 200], {}, block)
    await send('POST', '/rpc', ['/rpc', 400], {}, publicId)
    await send('OPTIONS', '/rpc', ['/rpc', 204])
    await send('POST', `${v1}/${publicId}/revoke`, [`${one}/revoke`, 200], WITH_KEY, {})
    stack.proxy.refuse = () => true
    await send('GET', `/v1/verify?publicId=${publicId}`, ['/v1/verify', 503], WITH_KEY)
    await send('POST', v1, [v1, 202], WITH_KEY, fields)
    stack.proxy.refuse = () => false
    return all
  }

  test('gives every response its own id', () => {
    for (const { method, route, status, response } of sent)
      expect([method, route, response.status]).toEqual([method, route, status])
    const ids = sent.map(({ response }) => response.headers.get('x-request-id'))
    for (const id of ids) expect(id).toMatch(UUID)
    expect(new Set(ids).size).toBe(sent.length)
    for (const { response } of sent)
      if (response.body.error?.requestId)
        expect(response.headers.get('x-request-id')).toBe(response.body.error.requestId)
  })

  test('logs one line for each request', () => {
    const logged = log.lines('request')
    expect(logged).toHaveLength(sent.length)
    for (const { method, route, status, response } of sent) {
      const requestId = response.headers.get('x-request-id')
      expect(logged.filter((line) => line.requestId === requestId)).toEqual([
        {
          time: expect.any(String),
          level: 'info',
          event: 'request',
          method,
          route,
          status,
          milliseconds: expect.any(Number),
          requestId,
        },
      ])
    }
  })

  test('logs no publicId, key, query or document field', () => {
    for (const text of [
      publicId,
      publicId.slice(1),
      NEVER_ISSUED,
      API_KEY,
      SECRETS.key,
      SECRETS.subjectName,
      ADA.subjectId,
      'format=',
      'publicId=',
      'of-the-client',
    ])
      expect(log.text()).not.toContain(text)
  })

  test.each([
    ['a backslash in the target', 'GET /\\healthz HTTP/1.1\r\nHost: localhost'],
    ['a Host that is not one', 'GET /healthz HTTP/1.1\r\nHost: a b'],
    ['a scheme that is not http', 'GET ftp://localhost/ HTTP/1.1\r\nHost: localhost'],
  ])('%s', async (_, head) => {
    const socket = connect(Number(new URL(stack.url).port), '127.0.0.1')
    socket.write(`${head}\r\nConnection: close\r\n\r\n`)
    const response = await text(socket)
    const id = /^x-request-id: (.*)$/im.exec(response)?.[1]?.trim()
    expect(id).toMatch(UUID)
    expect(response).toContain(`"requestId":"${id}"`)
    const logged = log.lines('request')
    expect(logged.filter(({ requestId }) => requestId === id)).toEqual([
      {
        time: expect.any(String),
        level: 'info',
        event: 'request',
        method: 'GET',
        route: '*',
        status: 400,
        milliseconds: expect.any(Number),
        requestId: id,
      },
    ])
  })
})

describe('a flood of refused requests', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  test.each([
    ['PUT', '/v1/batches', '/v1/batches', 405],
    ['GET', '/v1/none', '*', 404],
    ['GET', '/v1/documents', '/v1/documents', 401],
    ['GET', '/healthz', '/healthz', 200],
    ['GET', '/metrics', '/metrics', 200],
  ])('is summarised in the log: %s %s', async (method, path, route, status) => {
    const metrics = { served: () => {}, contentType: 'text/plain', render: async () => '' }
    const { app, log } = bareApp({
      version: '0',
      metrics: metrics as unknown as AppDeps['metrics'],
    })
    const lines = (event: string) =>
      log.map((line) => JSON.parse(line)).filter((line) => line.event === event)
    for (let i = 0; i < 60; i++) expect((await app.request(path, { method })).status).toBe(status)
    expect(lines('request')).toHaveLength(10)
    vi.advanceTimersByTime(10_000)
    expect(lines('requests_summed')).toEqual([
      { event: 'requests_summed', route, status, count: 50, seconds: 10 },
    ])
    await app.request(path, { method })
    expect(lines('request')).toHaveLength(11)
  })

  test('other answers are logged one by one', async () => {
    const { app, log } = bareApp({ verifyPage: { html: 'page', policy: '' } })
    for (let i = 0; i < 60; i++) expect((await app.request('/verify')).status).toBe(200)
    expect(log).toHaveLength(60)
  })
})
