import { Counter, Gauge, type Registry } from 'prom-client'

/** The values that are read for each scrape. */
export type WebhookBacklog = () => Promise<{ events: number; failing: number; disabled: number }>

export type WebhookMetrics = {
  /** Counts an attempt to deliver an event. */
  attemptedDelivery(outcome: 'delivered' | 'failed' | 'given_up'): void
  /** Shows how many receivers have a turn and how many wait for one. */
  showTurns(turns: { quick: number; slow: number; waiting: number }): void
}

export function createWebhookMetrics(
  registers: Registry[],
  backlog: WebhookBacklog,
): WebhookMetrics {
  const attempts = new Counter({
    name: 'document_registry_webhook_deliveries_total',
    help: 'Attempts to deliver an event to a webhook by outcome (delivered, failed), and deliveries given up after three days',
    labelNames: ['outcome'],
    registers,
  })
  const turns = new Gauge({
    name: 'document_registry_webhook_turns',
    help: 'Webhooks that this gateway sends to now, by whether their receiver answers within a second (quick) or not (slow), and those that wait because there are no more places (waiting)',
    labelNames: ['state'],
    registers,
  })
  new Gauge({
    name: 'document_registry_webhook_backlog_events',
    help: 'Events that enabled webhooks have still to get or to skip, over all webhooks; absent when the database cannot be read',
    registers,
    async collect() {
      this.remove()
      await backlog().then(
        ({ events }) => this.set(events),
        () => {},
      )
    },
  })
  new Gauge({
    name: 'document_registry_webhooks',
    help: 'Webhooks that fail (nothing was accepted since the last failure), and those disabled because of that, of a 410 or of a backlog that was too old',
    labelNames: ['state'],
    registers,
    async collect() {
      this.reset()
      const read = await backlog().catch(() => undefined)
      if (read === undefined) return
      this.set({ state: 'failing' }, read.failing)
      this.set({ state: 'disabled' }, read.disabled)
    },
  })
  return {
    attemptedDelivery: (outcome) => attempts.inc({ outcome }),
    showTurns: (now) => {
      for (const [state, count] of Object.entries(now)) turns.set({ state }, count)
    },
  }
}
