import { randomBytes } from 'node:crypto'
import { promises as dns } from 'node:dns'
import { type CertainTime, clock } from '#base/clock.ts'
import type { Log } from '#base/log.ts'
import type { Metrics } from '#base/metrics.ts'
import { createHostCheck, createPublicFetch, type PublicFetchOptions } from '#base/public-fetch.ts'
import { type SendMessage, startCourier } from '#events/courier.ts'
import { createWebhookSecrets, type WebhookSecrets } from '#events/secrets.ts'
import type { Webhook } from '#events/webhook.ts'
import { createWebhookSender } from '#events/webhook-sender.ts'
import type { AppDeps } from '#http/deps.ts'
import type { Config } from '#settings/config.ts'
import type { Identity } from './chain.ts'
import type { Stores } from './stores.ts'

export type WebhookParts = {
  routes: Pick<
    AppDeps,
    'webhooks' | 'webhookSecrets' | 'checkWebhookHost' | 'testWebhook' | 'mayWebhookUseHttp'
  >
  /** @param assertHeld Rejects with `LockLost` when another gateway leads by now. */
  start: (assertHeld: () => Promise<void>) => () => Promise<void>
}

/** Assembles the parts that send events to webhooks. */
export function openWebhooks(
  { webhookAllowPrivate }: Config,
  { issuerSecrets }: Identity,
  parts: { stores: Stores; metrics: Metrics; certainTime: CertainTime; log: Log },
): WebhookParts {
  const { stores, metrics, certainTime, log } = parts
  const secrets = createWebhookSecrets(issuerSecrets)
  const hosts: PublicFetchOptions = webhookAllowPrivate
    ? { isAllowed: () => true, resolve: resolveWithSystem }
    : {}
  const send = createWebhookSender(createPublicFetch(hosts))
  return {
    routes: {
      testWebhook: (webhook) => testWebhook(send, webhook, secrets),
      webhooks: stores.webhooks,
      webhookSecrets: secrets,
      checkWebhookHost: createHostCheck(hosts),
      mayWebhookUseHttp: webhookAllowPrivate,
    },
    start: (assertHeld) =>
      startCourier({
        assertHeld,
        deliveries: stores.deliveries,
        secrets,
        send,
        clock,
        certainTime,
        count: metrics.attemptedDelivery,
        showTurns: metrics.showTurns,
        log,
      }),
  }
}

async function testWebhook(
  send: SendMessage,
  webhook: Webhook,
  secrets: WebhookSecrets,
): Promise<'delivered' | 'gone' | 'failed'> {
  const now = clock.now()
  const id = `test_${randomBytes(12).toString('hex')}`
  const body = { id, type: 'webhook.test', timestamp: new Date(now).toISOString(), data: {} }
  const message = { id, body: JSON.stringify(body), secrets: secrets.current(webhook, now) }
  // The sender has a limit of its own.
  const { outcome } = await send(webhook.url, message, new AbortController().signal)
  return outcome
}

/** Also resolves names of the local network, such as those in `/etc/hosts`. */
async function resolveWithSystem(hostname: string): Promise<string[]> {
  const found = await dns.lookup(hostname, { all: true }).catch(() => [])
  return found.map(({ address }) => address)
}
