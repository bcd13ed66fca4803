import { describe, expect, test } from 'vitest'
import { createMemoryRateLimiter } from '#base/rate-limit.ts'
import type { BatchAnswer } from '#batches/batch.ts'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import type { RateLimits } from '#http/core/env.ts'
import type { AppDeps } from '#http/deps.ts'
import type { Grant } from '#keys/grant.ts'
import type { Readiness } from '#promise/ports.ts'
import { ConfigError, readConfig } from '#settings/config.ts'
import { bareApp } from '#test/support/bare-app.ts'

const PUBLIC_ID = golden.documents[0]?.publicId ?? ''
const PUBLIC = [
  '/',
  `/qr/${PUBLIC_ID}`,
  '/verify',
  '/.well-known/did.json',
  '/ipfs/bafkreib',
  '/none',
]
const UNLIMITED = ['/healthz']
const MONITORED = ['/readyz', '/metrics']
/** Paths and methods that nobody serves. */
const UNSERVED = [
  'GET /v1/none',
  'GET /api/none/at/all',
  'PUT /v1/documents',
  'DELETE /api/verify',
  'OPTIONS /v1/documents',
]

/** Limits that do not fill up again within a test. */
function limits(more: Partial<RateLimits>): RateLimits {
  let address = '203.0.113.1'
  return {
    keys: createMemoryRateLimiter(100),
    addresses: createMemoryRateLimiter(100),
    addressOf: (c) => {
      address = c.req.header('x-test-address') ?? address
      return address
    },
    refused: () => {},
    ...more,
  }
}

const grants: Record<string, Grant> = {
  plain: { id: 'plain', tenant: 'default', scopes: ['documents:read'] },
  other: { id: 'other', tenant: 'default', scopes: ['documents:read'] },
  wide: { id: 'wide', tenant: 'default', scopes: ['documents:read'], rateLimit: 5 },
  all: { id: 'all', tenant: 'default', scopes: ['admin'] },
}

/** The answer about a batch of which no line is valid. */
const REFUSED: BatchAnswer = {
  outcome: { status: 'refused' },
  lines: (async function* () {})(),
  close: async () => {},
}

function appWith(rateLimits: RateLimits) {
  const { app } = bareApp({
    rateLimits,
    version: '0',
    findKey: async (key: string) => grants[key],
    metrics: {
      served: () => {},
      contentType: 'text/plain',
      render: async () => '',
    } as unknown as AppDeps['metrics'],
    assertReady: async () => ({ balance: 1n, mayIssue: true, mayRevoke: true }) as Readiness,
    headAge: async () => 0,
    lowBalance: 0n,
    rpc: { request: async () => '0x1' },
  })
  return {
    get: async (path: string, headers: Record<string, string> = {}) =>
      app.request(path, { headers }),
    /** A request with a key that fails early: 400 unless it is refused before. */
    withKey: async (key: string) =>
      app.request('/v1/documents/nonsense', { headers: { authorization: `Bearer ${key}` } }),
    send: async (method: string, path: string, body?: object) =>
      app.request(path, { method, ...(body && { body: JSON.stringify(body) }) }),
  }
}

describe('keys', () => {
  test('counts the requests of a key, and says how many are left', async () => {
    const { withKey } = appWith(limits({ perKey: 2 }))
    const first = await withKey('plain')
    expect(first.status).toBe(400)
    expect(first.headers.get('ratelimit-policy')).toBe('"key";q=2;w=1')
    expect(first.headers.get('ratelimit')).toBe('"key";r=1;t=1')
    await withKey('plain')
    const third = await withKey('plain')
    expect(third.status).toBe(429)
    expect(third.headers.get('retry-after')).toBe('1')
    expect(third.headers.get('ratelimit')).toBe('"key";r=0;t=1')
    expect(await third.json()).toMatchObject({ success: false, error: { code: 'rate_limited' } })
  })

  test.each(['/v1/batches', '/v1/revocations', '/v1/suspensions', '/v1/documents'])(
    'every answer has the quota left, a request id and no-store: %s',
    async (path) => {
      const { app } = bareApp({
        rateLimits: limits({ perKey: 9 }),
        findKey: async (key: string) => grants[key],
        batches: { issue: async () => REFUSED, start: () => {} },
      })
      const response = await app.request(path, {
        method: 'POST',
        headers: { authorization: 'Bearer all', 'content-type': 'application/x-ndjson' },
        body: '{}\n',
      })
      await response.text()
      const { headers } = response
      expect(headers.get('ratelimit')).toBe('"key";r=8;t=1')
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(headers.get('cache-control')).toBe('no-store')
    },
  )

  test('a key has its own quota, and may have its own limit', async () => {
    const { withKey } = appWith(limits({ perKey: 1 }))
    const statuses = []
    for (const key of ['plain', 'plain', 'other', ...Array(6).fill('wide')])
      statuses.push((await withKey(key)).status)
    expect(statuses).toEqual([400, 429, 400, 400, 400, 400, 400, 400, 429])
  })

  test('counts nothing without a limit, except for a key with its own', async () => {
    const { withKey } = appWith(limits({}))
    const { status, headers } = await withKey('plain')
    expect([status, headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([
      400,
      null,
      null,
    ])
    expect((await withKey('wide')).headers.get('ratelimit-policy')).toBe('"key";q=5;w=1')
  })

  test('a request with a valid key does not count for its address', async () => {
    const { withKey } = appWith(limits({ perAddress: 1 }))
    for (let i = 0; i < 5; i++) expect((await withKey('plain')).status).toBe(400)
  })

  test('requests without a valid key count for their address', async () => {
    const { withKey, get } = appWith(limits({ perAddress: 2 }))
    expect((await withKey('unknown')).status).toBe(401)
    expect((await get('/v1/documents/nonsense')).status).toBe(401)
    expect((await withKey('unknown')).status).toBe(429)
    // A good key goes on.
    expect((await withKey('plain')).status).toBe(400)
  })
})

describe('addresses', () => {
  test.each(PUBLIC)('counts requests to %s', async (path) => {
    const { get } = appWith(limits({ perAddress: 1 }))
    const first = await get(path)
    expect(first.status).not.toBe(429)
    expect(first.headers.get('ratelimit-policy')).toBe('"address";q=1;w=1')
    const second = await get(path)
    expect(second.status).toBe(429)
    expect(second.headers.get('retry-after')).toBe('1')
    // A page of another origin can read why.
    expect(second.headers.get('access-control-allow-origin')).toBe('*')
    expect(second.headers.get('access-control-expose-headers')).toContain('RateLimit')
    expect((await second.json()).error.code).toBe('rate_limited')
  })

  test('all public routes share the quota of an address', async () => {
    const { get } = appWith(limits({ perAddress: 2 }))
    const statusFrom = async (address: string) =>
      (await get('/verify', { 'x-test-address': address })).status
    expect(await statusFrom('2001:db8:1:2::1')).toBe(200)
    expect((await get('/')).status).toBe(200)
    // The same network of 64 bits.
    expect(await statusFrom('2001:db8:1:2:ffff::9')).toBe(429)
    expect(await statusFrom('2001:db8:1:3::1')).toBe(200)
  })

  test.each(UNLIMITED)('never refuses %s', async (path) => {
    const { get } = appWith(limits({ perAddress: 1 }))
    for (let i = 0; i < 3; i++) expect((await get(path)).status).toBe(200)
  })

  test('never refuses a preflight, because a page could not read the refusal', async () => {
    const { send } = appWith(limits({ perAddress: 1 }))
    for (let i = 0; i < 3; i++) expect((await send('OPTIONS', '/rpc')).status).toBe(204)
  })

  test.each(UNSERVED)('counts unknown routes: %s', async (request) => {
    const { send } = appWith(limits({ perAddress: 2 }))
    const [method = '', path = ''] = request.split(' ')
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await send(method, path)).status)
    expect(statuses[0]).toBe(path.includes('none') ? 404 : 405)
    expect(statuses.slice(1)).toEqual([statuses[0], 429])
  })

  test.each(MONITORED)('%s has its own quota', async (path) => {
    const { get } = appWith(limits({ perAddress: 2 }))
    for (let i = 0; i < 3; i++) await get('/none')
    expect((await get('/none')).status).toBe(429)
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await get(path)).status)
    expect(statuses).toEqual([200, 200, 429])
  })
})

describe('costs', () => {
  const chainIds = (count: number) =>
    Array(count).fill({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })

  /** A quota of ten that never fills up again. */
  function tenRequests() {
    let taken = 0
    const take = async () => {
      taken++
      return { isAllowed: taken <= 10, remaining: 0, resetSeconds: 1, retryAfterSeconds: 1 }
    }
    return { ...appWith(limits({ perAddress: 10, addresses: { take } })), taken: () => taken }
  }

  test.each(['svg', 'png'])('a QR code as %s counts as five requests', async (format) => {
    const { get, taken } = tenRequests()
    const path = `/qr/${PUBLIC_ID}?format=${format}`
    expect([(await get(path)).status, taken()]).toEqual([200, 5])
    expect([(await get(path)).status, taken()]).toEqual([200, 10])
    expect((await get(path)).status).toBe(429)
  })

  test('a JSON-RPC batch counts as its requests', async () => {
    const { send, taken } = tenRequests()
    expect([(await send('POST', '/rpc', chainIds(6))).status, taken()]).toEqual([200, 6])
    expect((await send('POST', '/rpc', chainIds(5))).status).toBe(429)
  })

  test('a full quota suffices for the most expensive request', async () => {
    for (const perAddress of [1, 2, 3]) {
      const { send } = appWith(limits({ perAddress }))
      expect((await send('POST', '/rpc', chainIds(10))).status).toBe(200)
      expect((await send('POST', '/rpc', chainIds(1))).status).toBe(429)
    }
  })
})

describe('settings', () => {
  test.each<[Record<string, string>, object]>([
    [{}, { keyRateLimit: 100, addressRateLimit: 100 }],
    [{ RATE_LIMIT: '7' }, { keyRateLimit: 7, addressRateLimit: 100 }],
    [{ ADDRESS_RATE_LIMIT: '3' }, { keyRateLimit: 100, addressRateLimit: 3 }],
    [{ RATE_LIMIT: 'off' }, {}],
    [{ RATE_LIMIT: 'off', ADDRESS_RATE_LIMIT: '3' }, { addressRateLimit: 3 }],
    [{ ADDRESS_RATE_LIMIT: 'off' }, { keyRateLimit: 100 }],
  ])('%o', (env, expected) => {
    const { keyRateLimit, addressRateLimit } = readConfig(env)
    expect({ keyRateLimit, addressRateLimit }).toEqual({
      keyRateLimit: undefined,
      addressRateLimit: undefined,
      ...expected,
    })
  })

  test('trusted proxies are addresses and networks', () => {
    const TRUSTED_PROXIES = '10.0.0.7, 192.168.0.0/16,::1,2001:db8::/32'
    expect(readConfig({ TRUSTED_PROXIES }).trustedProxies).toEqual([
      '10.0.0.7',
      '192.168.0.0/16',
      '::1',
      '2001:db8::/32',
    ])
    expect(readConfig({}).trustedProxies).toEqual([])
  })

  test.each<[string, string]>([
    ['RATE_LIMIT', '0'],
    ['RATE_LIMIT', 'none'],
    ['RATE_LIMIT', '100001'],
    ['ADDRESS_RATE_LIMIT', '-1'],
    ['TRUSTED_PROXIES', 'proxy.example'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', '10.0.0.0/8/8'],
    ['TRUSTED_PROXIES', '::1/x'],
    ['TRUSTED_PROXIES', 'true'],
  ])('refuses %s=%s, and names it', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(ConfigError)
    expect(() => readConfig({ [name]: value })).toThrow(name)
  })
})
