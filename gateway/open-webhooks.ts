import { promises as dns } from 'node:dns'
import {
  createHostCheck,
  createPublicFetch,
  type PublicFetchOptions,
} from './adapters/public-fetch.ts'
import { createWebhookSender } from './adapters/webhook-sender.ts'
import type { StartChore } from './chores.ts'
import { type CertainTime, clock } from './clock.ts'
import type { Config } from './config.ts'
import type { WebhookDeps } from './http/routes/webhooks.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Identity } from './open-chain.ts'
import type { Stores } from './open-stores.ts'
import { startCourier } from './webhooks/courier.ts'
import { createWebhookSecrets } from './webhooks/secrets.ts'

export type WebhookParts = {
  routes: Omit<WebhookDeps, 'findKey'>
  /** See `StartChore`. */
  start: StartChore
}

/** Puts together what sends events to webhooks. */
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
  return {
    routes: {
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
        send: createWebhookSender(createPublicFetch(hosts)),
        clock,
        certainTime,
        count: metrics.attemptedDelivery,
        showTurns: metrics.showTurns,
        log,
      }),
  }
}

/** Knows the names of the own network too, as `/etc/hosts` has them. */
async function resolveWithSystem(hostname: string): Promise<string[]> {
  const found = await dns.lookup(hostname, { all: true }).catch(() => [])
  return found.map(({ address }) => address)
}
