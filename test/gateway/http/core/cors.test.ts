import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cidOf } from '#document/cid.ts'
import { bareApp } from '#test/support/bare-app.ts'
import { API_KEY, type Stack, startStack } from '#test/support/stack.ts'

const ORIGIN = 'https://page.example'
const CID = cidOf(new Uint8Array(32))

/** Every route that pages of any origin may use, and a path of it. */
const OPEN: Record<string, { path: string; method: string }> = {
  '/.well-known/did.json': { path: '/.well-known/did.json', method: 'GET' },
  '/.well-known/openid-credential-issuer/wallets/:category': {
    path: '/.well-known/openid-credential-issuer/wallets/diploma',
    method: 'GET',
  },
  '/.well-known/oauth-authorization-server/wallets/:category': {
    path: '/.well-known/oauth-authorization-server/wallets/diploma',
    method: 'GET',
  },
  '/v1/status-lists/:list': { path: '/v1/status-lists/1', method: 'GET' },
  '/wallets/offers': { path: '/wallets/offers', method: 'POST' },
  '/.well-known/jwt-vc-issuer': { path: '/.well-known/jwt-vc-issuer', method: 'GET' },
  '/ipfs/:cid': { path: `/ipfs/${CID}`, method: 'GET' },
  '/v1/types/:issuerId/:category': { path: '/v1/types/1/diploma', method: 'GET' },
  '/v1/types/:issuerId/:category/:version': { path: '/v1/types/1/diploma/1', method: 'GET' },
  '/rpc': { path: '/rpc', method: 'POST' },
}

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.stop())

/** As a browser does before a request that is not simple. */
const preflight = (path: string, method: string) =>
  stack.request(path, {
    method: 'OPTIONS',
    headers: {
      origin: ORIGIN,
      'access-control-request-method': method,
      'access-control-request-headers': 'content-type,if-none-match',
    },
  })

const listOf = (headers: Headers, name: string) =>
  (headers.get(name) ?? '').split(',').map((item) => item.trim().toLowerCase())

describe.each(Object.entries(OPEN))('%s', (_, { path, method }) => {
  test('a preflight allows its method and headers, without credentials', async () => {
    const { status, headers } = await preflight(path, method)
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
    expect(listOf(headers, 'access-control-allow-methods')).toContain(method.toLowerCase())
    const allowed = listOf(headers, 'access-control-allow-headers')
    expect(allowed).toEqual(expect.arrayContaining(['content-type', 'if-none-match']))
    expect(allowed).not.toContain('authorization')
    expect(Number(headers.get('access-control-max-age'))).toBeGreaterThan(0)
  })

  test('a page can read failures and their request id', async () => {
    const { status, headers } = await stack.request(path, {
      method,
      headers: { origin: ORIGIN, accept: 'text/plain' },
      ...(method === 'POST' && { body: '{' }),
    })
    expect(status).toBeGreaterThanOrEqual(400)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(listOf(headers, 'access-control-expose-headers')).toContain('x-request-id')
  })

  test('the Allow of another method includes OPTIONS', async () => {
    const { status, headers } = await stack.request(path, { method: 'DELETE' })
    expect(status).toBe(405)
    expect(listOf(headers, 'allow')).toEqual(
      expect.arrayContaining(['options', method.toLowerCase()]),
    )
  })
})

test('no other route answers a page of another origin', async () => {
  const paths = new Set(bareApp().app.routes.map(({ path }) => path))
  const closed = [...paths].filter((path) => path !== '/*' && !(path in OPEN))
  expect(closed.length).toBeGreaterThan(10)
  for (const route of closed) {
    const path = route.replace(/:\w+/g, 'x')
    const asked = await preflight(path, 'GET')
    expect([route, asked.status]).toEqual([route, 405])
    const answered = await stack.request(path, {
      headers: { origin: ORIGIN, authorization: `Bearer ${API_KEY}` },
    })
    for (const { headers } of [asked, answered])
      expect([route, headers.get('access-control-allow-origin')]).toEqual([route, null])
  }
})
