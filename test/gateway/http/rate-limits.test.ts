import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { API_KEY, type Stack, startStack } from '../../support/stack.ts'

// Through real sockets, with a proxy that this test plays. So many requests at once that a slow
// machine, which serves them over seconds, refuses some as well.

let stack: Stack
beforeAll(async () => {
  stack = await startStack({
    RATE_LIMIT: '2',
    ADDRESS_RATE_LIMIT: '2',
    TRUSTED_PROXIES: '127.0.0.1',
  })
})
afterAll(() => stack.stop())

const statusesOf = async (requests: Promise<{ status: number }>[]) =>
  (await Promise.all(requests)).map(({ status }) => status).sort()

test('a key gets 429 over its limit, and can go on after Retry-After', async () => {
  const send = () =>
    stack.request('/v1/verify?publicId=x', { headers: { authorization: `Bearer ${API_KEY}` } })
  const statuses = await statusesOf(Array.from({ length: 40 }, send))
  expect(statuses).toContain(400)
  expect(statuses).toContain(429)
  await expect.poll(async () => (await send()).status).toBe(400)
})

test('a client behind a trusted proxy has a quota of its own', async () => {
  const from = (client: string) =>
    Array.from({ length: 40 }, () =>
      stack.request('/.well-known/did.json', { headers: { 'x-forwarded-for': client } }),
    )
  expect(await statusesOf(from('203.0.113.1'))).toContain(429)
  const [first] = await statusesOf(from('203.0.113.2'))
  expect(first).not.toBe(429)
})

test('a page can read its headers', async () => {
  const { headers } = await stack.request('/verify', {
    headers: { 'x-forwarded-for': '203.0.113.3' },
  })
  expect(headers.get('ratelimit-policy')).toBe('"address";q=2;w=1')
  expect(headers.get('ratelimit')).toMatch(/^"address";r=[01];t=1$/)
})

test('the metrics count refusals by limit, and name nobody', async () => {
  const refusals = async () => {
    // Scrapes within a second share a rendering.
    await sleep(1_050)
    const text = Buffer.from((await stack.request('/metrics')).body).toString()
    const counts = text.matchAll(/^document_registry_rate_limited_total\{limit="(\w+)"\} (\d+)$/gm)
    return Object.fromEntries([...counts].map(([, limit, count]) => [limit, Number(count)]))
  }
  const before = await refusals()
  expect(Object.keys(before)).toEqual(['key', 'address', 'rpc'])
  const headers = { authorization: `Bearer ${API_KEY}` }
  const withKey = () => stack.request('/v1/verify?publicId=x', { headers })
  const statuses = await statusesOf(Array.from({ length: 40 }, withKey))
  const refused = statuses.filter((status) => status === 429).length
  expect(await refusals()).toEqual({ ...before, key: (before.key ?? 0) + refused })
})
