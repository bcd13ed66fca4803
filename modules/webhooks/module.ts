import { randomBytes } from 'node:crypto'
import { promises as dns } from 'node:dns'
import { clock } from '#base/clock.ts'
import { createHostCheck, createPublicFetch, type PublicFetchOptions } from '#base/public-fetch.ts'
import { bind } from '#http/core/operation.ts'
import type { Chore, Core, Module } from '#parts/module.ts'
import { type SendMessage, startCourier } from './courier.ts'
import { createDeliveries } from './deliveries-store.ts'
import { type WebhookDeps, webhookRoutes } from './routes.ts'
import { createWebhookSecrets, type WebhookSecrets } from './secrets.ts'
import { createBacklogReader, createWebhooks } from './store.ts'
import type { Webhook } from './webhook.ts'
import { createWebhookSender } from './webhook-sender.ts'

/** Events, sent to addresses of those who use the service. The log of events is the core's. */
export const webhooksModule: Module = {
  name: 'webhooks',
  tables: ['webhook', 'delivery'],
  resources: [webhookRoutes],
  open({ config, identity, stores, metrics, certainTime, log }: Needs) {
    const { webhookAllowPrivate } = config
    const secrets = createWebhookSecrets(identity.issuerSecrets)
    const hosts: PublicFetchOptions = webhookAllowPrivate
      ? { isAllowed: () => true, resolve: resolveWithSystem }
      : {}
    const send = createWebhookSender(createPublicFetch(hosts))
    const routes: WebhookDeps = {
      testWebhook: (webhook) => testWebhook(send, webhook, secrets),
      webhooks: createWebhooks(stores.database),
      webhookSecrets: secrets,
      checkWebhookHost: createHostCheck(hosts),
      mayWebhookUseHttp: webhookAllowPrivate,
    }
    const deliveries = createDeliveries(stores.database)
    const sendEvents: Chore = ({ assertHeld }) =>
      startCourier({
        assertHeld,
        deliveries,
        secrets,
        send,
        clock,
        certainTime,
        count: metrics.attemptedDelivery,
        showTurns: metrics.showTurns,
        log,
      })
    return {
      provides: { webhookBacklog: createBacklogReader(stores.database) },
      serve: () => ({ resources: bind([webhookRoutes], routes), chores: [sendEvents] }),
    }
  },
}

type Needs = Pick<Core, 'config' | 'identity' | 'stores' | 'metrics' | 'certainTime' | 'log'>

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
