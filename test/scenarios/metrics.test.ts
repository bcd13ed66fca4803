import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMetrics } from '#base/metrics.ts'
import { aliasOf } from '#http/core/operation.ts'
import { OPERATIONS } from '#modules/all.ts'
import { ADA, API_KEY, type Stack, startStack } from '../support/stack.ts'

/** Preflights, which are not in the OpenAPI document. */
const PREFLIGHTS = [
  '/rpc',
  '/ipfs/:cid',
  '/.well-known/did.json',
  '/.well-known/jwt-vc-issuer',
  '/.well-known/openid-credential-issuer/wallets/:category',
  '/.well-known/oauth-authorization-server/wallets/:category',
  '/wallets/offers',
  '/v1/status-lists/:list',
  '/v1/types/:issuerId/:category',
  '/v1/types/:issuerId/:category/:version',
].map((path) => `OPTIONS ${path}`)

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.stop())

/** Scrapes within a second share a rendering. */
const scrape = async () => {
  await sleep(1_050)
  return Buffer.from((await stack.request('/metrics')).body).toString()
}

/** @returns The value of the first sample that begins like this. */
function sampleOf(text: string, start: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(start))
  return line === undefined ? undefined : Number(line.split(' ').at(-1))
}
const PREFIX = 'document_registry_'
const count = (name: string, labels = '') => `${PREFIX}${name}_count${labels}`

test('measures requests by route template and class of status', async () => {
  const { publicId } = (await stack.issue(ADA)).body.data
  await stack.verify(publicId)
  await stack.verify(publicId)
  await stack.request(`/v1/verify?publicId=${publicId}`)
  await stack.request(`/no/such/path/${publicId}`)
  await stack.request('/healthz', { method: 'REPORT' })
  let text = ''
  const served = async () => {
    text = await scrape()
    return [
      'method="POST",route="/v1/documents",status="2xx"',
      'method="GET",route="/v1/verify",status="2xx"',
      'method="GET",route="/v1/verify",status="4xx"',
      'method="GET",route="*",status="4xx"',
      'method="other",route="*",status="4xx"',
    ].map((labels) => sampleOf(text, count('http_request_seconds', `{${labels}}`)))
  }
  // A request counts when its connection has taken the whole answer.
  await expect.poll(served).toEqual([1, 2, 1, 1, 1])
  expect(text).not.toContain(publicId)
  expect(text).not.toContain(API_KEY)
})

test('counts the calls to nodes, by method', async () => {
  await stack.issue({ ...ADA, subjectId: '2' })
  const sent = 'rpc_calls_total{method="eth_sendRawTransaction"}'
  expect(sampleOf(await scrape(), `${PREFIX}${sent}`)).toBeGreaterThanOrEqual(1)
})

test('has the same labels whatever methods and paths clients send', async () => {
  const operations = OPERATIONS.flatMap(({ method, path }) =>
    [path, aliasOf(path) ?? path].map((route) => `${method} ${route}`),
  )
  const paths = new Set(operations.map((one) => one.split(' ')[1]?.replaceAll(':', '') ?? ''))
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'REPORT'])
    for (const path of paths) await (await fetch(`${stack.url}${path}`, { method })).text()
  const requests = /_http_request_seconds_count\{method="(\w+)",route="([^"]+)"/g
  const strange = [...(await scrape()).matchAll(requests)]
    .map(([, method, route]) => `${method === 'HEAD' ? 'GET' : method} ${route}`)
    .filter((one) => !one.endsWith(' *') && ![...operations, ...PREFLIGHTS].includes(one))
  expect(strange).toEqual([])
})

test('renders once a second, however many clients ask', async () => {
  let reads = 0
  const { render } = createMetrics({
    depth() {
      reads++
      return { queued: 0, refused: 0, inFlight: 0 }
    },
    balance: async () => 0n,
    spentLastHour: async () => 0n,
    stopped: () => undefined,
    feeCaps: {},
    headAge: async () => 0,
    unfinishedErasures: async () => 0,
    mirrorLag: async () => undefined,
    webhookBacklog: async () => ({ events: 0, failing: 0, disabled: 0 }),
    rpcCalls: new Map(),
  })
  await render()
  const once = reads
  await Promise.all(Array.from({ length: 50 }, render))
  expect(reads).toBe(once)
})

test('measures transactions, inclusion and finality', async () => {
  const before = await scrape()
  const many = Array.from({ length: 5 }, (_, i) => stack.issue({ ...ADA, subjectId: `${i}` }))
  const [first] = await Promise.all(many)
  await stack.request(`/v1/documents/${first?.body.data.publicId}/revoke`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: '{}',
  })
  const names = [
    count('inclusion_seconds', '{kind="issue"}'),
    count('inclusion_seconds', '{kind="revoke"}'),
    `${PREFIX}transaction_intents_sum`,
  ]
  const grown = async () => {
    const text = await scrape()
    return names.map((name) => (sampleOf(text, name) ?? 0) - (sampleOf(before, name) ?? 0))
  }
  await expect.poll(grown).toEqual([5, 1, 6])
  expect(sampleOf(await scrape(), `${PREFIX}head_age_seconds`)).toBeGreaterThanOrEqual(0)
  // Every block of the local chain is final at once; the gateway looks every two seconds.
  const final = count('finality_seconds', '{kind="issue"}')
  await expect.poll(async () => sampleOf(await scrape(), final) ?? 0).toBeGreaterThanOrEqual(5)
})

test('omits values of the chain while no node answers', async () => {
  stack.proxy.refuse = () => true
  await expect.poll(scrape).not.toMatch(/^document_registry_head_age_seconds /m)
  stack.proxy.refuse = () => false
  await expect.poll(scrape).toMatch(/^document_registry_head_age_seconds /m)
})

test.each(['alerts.yml', 'dashboard.json'])('every metric that %s names exists', async (file) => {
  const text = await scrape()
  const known = new Set([...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name]) => name))
  const path = new URL(`../../deployments/monitoring/${file}`, import.meta.url)
  const content = readFileSync(path, 'utf8')
  const named = new Set(content.match(/\b(?:document_registry|process|nodejs)_\w+/g))
  expect(named.size).toBeGreaterThan(8)
  const family = (name: string) => name.replace(/_(bucket|count|sum)$/, '')
  const unknown = [...named].filter((name) => !known.has(name) && !known.has(family(name)))
  expect(unknown).toEqual([])
  if (file.endsWith('.json')) JSON.parse(content)
})
