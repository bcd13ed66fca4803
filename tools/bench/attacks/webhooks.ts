import { setTimeout as sleep } from 'node:timers/promises'
import { bodyOf, serveHttp } from '#test/support/http.ts'
import { issue, post } from '../requests.ts'
import { type Attack, flood, type Target } from './attack.ts'

/** More receivers than a gateway sent to at the same time. */
const RECEIVERS = 12
/** A little less than a gateway waits. */
const ANSWER_MS = 9_500
const DOCUMENTS_PER_SECOND = 5
/** How long to wait for an event. One that has not come counts as this. */
const PATIENCE_MS = 30_000

/** Receivers of one tenant that answer late, each with more events than it can receive. */
export const webhooks: Attack = {
  env: { WEBHOOK_ALLOW_PRIVATE: 'true' },
  async start(target) {
    const over = new AbortController()
    let reached = 0
    const server = await serveHttp(async (_, response) => {
      reached++
      await sleep(ANSWER_MS, undefined, over).catch(() => {})
      response.writeHead(204).end()
    })
    for (let i = 0; i < RECEIVERS; i++) await addWebhook(target, `${server.url}/${i}`)
    const stop = flood({ atOnce: 10, perSecond: DOCUMENTS_PER_SECOND }, () => issueNext(target))
    while (reached < RECEIVERS / 2) await sleep(100)
    return async () => {
      await stop()
      over.abort()
      await server.close()
    }
  },
  /** Measures the time from the request until the event is at a quick receiver. */
  async other(target) {
    if (receiver?.of !== target.url) receiver = await startReceiver(target)
    const { documentHash } = await issueNext(target)
    const until = performance.now() + PATIENCE_MS
    while (!receiver.received.has(documentHash) && performance.now() < until) await sleep(2)
  },
}

/** A receiver of the gateway with this address. */
type Receiver = { of: string; received: Set<string> }

let receiver: Receiver | undefined

async function startReceiver(target: Target): Promise<Receiver> {
  const received = new Set<string>()
  const server = await serveHttp(async (request, response) => {
    const { data } = JSON.parse(await bodyOf(request))
    received.add(data.documentHash)
    response.writeHead(204).end()
  })
  await addWebhook(target, server.url)
  return { of: target.url, received }
}

async function addWebhook(target: Target, url: string): Promise<void> {
  const { status } = await post(target, '/v1/webhooks', { url, types: ['document.issued'] })
  if (status !== 201) throw new Error(`adding a webhook answered ${status}`)
}

let issued = 0
const issueNext = (target: Target) => issue(target, issued++)
