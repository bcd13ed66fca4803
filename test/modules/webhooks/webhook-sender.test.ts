import type { RequestListener } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, test } from 'vitest'
import { createPublicFetch } from '#base/public-fetch.ts'
import { createWebhookSender } from '#modules/webhooks/webhook-sender.ts'
import { bodyOf, serveHttp, type TestServer } from '../../support/http.ts'

const SECRETS = ['A', 'B'].map((letter) => `whsec_${Buffer.alloc(32, letter).toString('base64')}`)
const MESSAGE = { id: 'evt_1_1', body: '{"type":"document.issued"}', secrets: SECRETS }
const FAILED = { outcome: 'failed' }
const never = new AbortController().signal
const anywhere = createPublicFetch({ isAllowed: () => true })

const servers: TestServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})
async function serve(listener: RequestListener): Promise<string> {
  const server = await serveHttp(listener)
  servers.push(server)
  return server.url
}
const answer = (status: number, headers = {}) =>
  serve((_, response) => response.writeHead(status, headers).end())
const send = (url: string) => createWebhookSender(anywhere)(url, MESSAGE, never)

describe('one message', () => {
  test('is a POST that verifies with each of the secrets', async () => {
    let verified = 0
    const url = await serve(async (request, response) => {
      expect(request.method).toBe('POST')
      expect(request.headers['content-type']).toBe('application/json')
      expect(request.headers['webhook-id']).toBe(MESSAGE.id)
      const body = await bodyOf(request)
      expect(body).toBe(MESSAGE.body)
      for (const secret of SECRETS) {
        new Webhook(secret).verify(body, request.headers as Record<string, string>)
        verified++
      }
      response.end()
    })
    expect(await send(url)).toEqual({ outcome: 'delivered' })
    expect(verified).toBe(2)
  })

  test.each([
    ...([200, 204, 299] as const).map((status) => [status, 'delivered']),
    ...([300, 400, 404, 429, 500, 503] as const).map((status) => [status, 'failed']),
    [410, 'gone'],
  ] as [number, string][])('%d counts as %s', async (status, outcome) => {
    expect(await send(await answer(status))).toEqual({ outcome })
  })

  test.each([
    [503, '120', 120_000],
    [429, new Date(Date.now() + 3_600_000).toUTCString(), 3_600_000],
    ...(['0', '-5', 'soon', new Date(0).toUTCString()] as const).map((value) => [503, value, 0]),
  ] as [number, string, number][])(
    '%d with Retry-After: %s gives a pause of %d ms',
    async (status, value, wanted) => {
      const { retryAfterMs = 0 } = await send(await answer(status, { 'retry-after': value }))
      // A date has whole seconds.
      expect(Math.abs(retryAfterMs - wanted)).toBeLessThan(wanted === 3_600_000 ? 60_000 : 1)
    },
  )

  test('follows no redirect', async () => {
    let followed = false
    const elsewhere = await serve((_, response) => {
      followed = true
      response.end()
    })
    for (const status of [301, 307])
      expect(await send(await answer(status, { location: elsewhere }))).toEqual(FAILED)
    expect(followed).toBe(false)
  })

  test('does not wait for the end of an answer that never ends', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200)
      response.write('x'.repeat(100_000))
    })
    expect(await send(url)).toEqual({ outcome: 'delivered' })
  })

  test('a receiver that cannot be reached, or hangs up, has failed', async () => {
    expect(await send('http://127.0.0.1:1/')).toEqual(FAILED)
    const leaving = new AbortController()
    const url = await serve(() => leaving.abort())
    expect(await createWebhookSender(anywhere)(url, MESSAGE, leaving.signal)).toEqual(FAILED)
  })
})

describe('addresses', () => {
  test('does not connect to a name that now leads to a private address', async () => {
    let connected = false
    const url = await serve((_, response) => {
      connected = true
      response.end()
    })
    const { port } = new URL(url)
    const rebinding = createPublicFetch({ resolve: async () => ['127.0.0.1'] })
    const sendAt = createWebhookSender(rebinding)
    expect(await sendAt(`http://receiver.test:${port}/`, MESSAGE, never)).toEqual(FAILED)
    expect(await sendAt(url, MESSAGE, never)).toEqual(FAILED)
    expect(await sendAt(`http://[::ffff:127.0.0.1]:${port}/`, MESSAGE, never)).toEqual(FAILED)
    expect(connected).toBe(false)
  })
})
