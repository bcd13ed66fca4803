import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SCOPES, type Scope } from '#keys/grant.ts'
import { makeKey } from '#keys/keys.ts'
import { openKeysFile } from '#store/drivers/sqlite/keys-file.ts'

import { signIn } from '#test/support/desk.ts'
import { API_KEY, type Stack, startStack } from '#test/support/stack.ts'

// The same cases against every operation of /openapi.json that needs a key, under each of its
// paths, through a socket.

type Operation = { operationId: string; security?: object[]; 'x-scope'?: string }
type Route = { method: string; path: string; scopes: Scope[] }

let stack: Stack
let routes: Route[]
const secrets = { expired: '', revoked: '' }
/** A key with every scope but this one and `admin`. */
const without: Record<string, string> = {}

beforeAll(async () => {
  stack = await startStack()
  const { body } = await stack.request('/openapi.json')
  routes = routesOf(body.paths)
  const store = openKeysFile(`${stack.dataDir}/keys.db`)
  const base = { scopes: [...SCOPES], tenant: 'default' }
  const [expired, revoked] = [
    makeKey({ ...base, expiresAt: new Date(Date.now() - 1).toISOString() }),
    makeKey(base),
  ]
  await store.put(expired.key)
  await store.put(revoked.key)
  await store.remove(revoked.key.id)
  store.close()
  secrets.expired = expired.secret
  secrets.revoked = revoked.secret
  for (const scope of SCOPES)
    without[scope] = stack.key(SCOPES.filter((other) => other !== scope && other !== 'admin'))
})
afterAll(() => stack.stop())

/** The routes with a scope, as the document declares them, and their other names. */
function routesOf(paths: Record<string, Record<string, Operation>>): Route[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const scopes = scopesOf(operation)
      if (scopes.length === 0) return []
      const target = path.replaceAll(/\{\w+\}/g, 'x')
      return [target, target.replace(/^\/v1\//, '/api/')].map((served) => ({
        method: method.toUpperCase(),
        path: served,
        scopes,
      }))
    }),
  )
}

function scopesOf({ security = [] }: Operation): Scope[] {
  const named = security.flatMap((entry) => Object.values(entry).flat() as string[])
  return SCOPES.filter((scope) => named.includes(scope))
}

const send = ({ method, path }: Route, authorization?: string) =>
  stack.request(path, {
    method,
    headers: { ...(authorization !== undefined && { authorization }) },
  })

test('the OpenAPI document names the routes that need a key', () => {
  const known = routes.map(({ method, path }) => `${method} ${path}`)
  for (const route of ['POST /v1/documents', 'POST /api/documents', 'GET /v1/verify'])
    expect(known).toContain(route)
  expect(known).toContain('DELETE /v1/keys/x')
  expect(known.length).toBeGreaterThan(30)
})

describe.each<[string, () => string | undefined]>([
  ['no key', () => undefined],
  ['an unknown key', () => 'Bearer drk_unknown'],
  ['an expired key', () => `Bearer ${secrets.expired}`],
  ['a revoked key', () => `Bearer ${secrets.revoked}`],
  ['another scheme', () => `Basic ${API_KEY}`],
  ['the key alone', () => API_KEY],
  ['an empty header', () => ''],
  ['an empty key', () => 'Bearer '],
  ['the key twice', () => `Bearer ${API_KEY}, Bearer ${API_KEY}`],
  ['half of the key', () => `Bearer ${API_KEY.slice(0, -1)}`],
  ['more than the key', () => `Bearer ${API_KEY}x`],
  ['the id of a key', () => 'Bearer environment'],
  ['a list of parameters', () => `Bearer key="${API_KEY}"`],
])('%s', (_, authorization) => {
  test('every route answers 401, and says nothing else', async () => {
    for (const route of routes) {
      const { status, headers, body } = await send(route, authorization())
      expect([route, status]).toEqual([route, 401])
      expect(headers.get('www-authenticate')).toMatch(/^Bearer realm=/)
      expect(body).toEqual({
        success: false,
        data: {},
        error: {
          code: 'unauthorized',
          message: expect.any(String),
          requestId: expect.any(String),
        },
      })
    }
  })
})

describe('a session', () => {
  test('every route that changes something requires its token', async () => {
    const desk = await signIn(stack, { role: 'administrator' })
    const other = await signIn(stack, { role: 'administrator' })
    for (const { method, path } of routes.filter((route) => route.method !== 'GET'))
      for (const token of ['', other.csrfToken]) {
        const headers = { cookie: desk.cookie, 'x-csrf-token': token }
        const { status, body } = await stack.request(path, { method, headers })
        const code = body.error?.code
        expect([method, path, status, code]).toEqual([method, path, 403, 'csrf_token_required'])
      }
  })

  test('every route accepts the session of an administrator', async () => {
    const desk = await signIn(stack, { role: 'administrator' })
    for (const { method, path } of routes) {
      const { status, body } = await desk.send(method, `${path}?not_a_parameter=1`)
      expect([method, path, status, body.error?.code]).toEqual([method, path, 400, 'bad_query'])
    }
  })
})

test('every route answers 403 to a key without one of its scopes, and names it', async () => {
  for (const route of routes)
    for (const scope of route.scopes) {
      const { status, headers, body } = await send(route, `Bearer ${without[scope]}`)
      expect([route, status, body.error?.code]).toEqual([route, 403, 'forbidden'])
      expect(headers.get('www-authenticate')).toContain(`scope="${scope}"`)
    }
})

test('a key with only the required scopes is accepted', async () => {
  // Malformed on purpose, so that nothing is done: what is wrong is not the key.
  for (const route of routes) {
    const asked = { ...route, path: `${route.path}?not_a_parameter=1` }
    const { status, body } = await send(asked, `Bearer ${stack.key(route.scopes)}`)
    expect([route, status, body.error?.code]).toEqual([route, 400, 'bad_query'])
  }
})
