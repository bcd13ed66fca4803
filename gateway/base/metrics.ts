import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { shareRead } from './concurrency.ts'
import { createLoadMetrics, type LoadMetrics, type LoadSources } from './load-metrics.ts'
import {
  createWebhookMetrics,
  type WebhookBacklog,
  type WebhookMetrics,
} from './webhook-metrics.ts'
import { inEther } from './wei.ts'

/**
 * The gateway's metrics in the Prometheus text format. Labels contain no identifier of a client,
 * issuer or document.
 */
export type Metrics = WebhookMetrics &
  LoadMetrics & {
    readonly contentType: string
    render(): Promise<string>
    /** Counts an intent by its outcome. */
    concluded(kind: string, outcome: string): void
    /** Counts a transaction of the account that this gateway did not make. */
    foundForeign(): void
  }

/** Values that are read for each scrape. */
export type MetricSources = LoadSources & {
  depth(): { queued: number; inFlight: number }
  /** @returns The balance in wei. Rejects when it cannot be read. */
  balance(): Promise<bigint>
  /** @returns The fees in wei. */
  spentLastHour(): Promise<bigint>
  /** The error code that requests get; `undefined` while documents can be issued. */
  stopped(): string | undefined
  /** The caps in wei; absent = no cap. */
  feeCaps: { transaction?: bigint; hour?: bigint }
  webhookBacklog: WebhookBacklog
  /** The number of calls to nodes, by method. */
  rpcCalls: ReadonlyMap<string, number>
}

/**
 * Rendering takes milliseconds of the only thread, so scrapes within this time get the same result.
 */
const RENDERING_TTL_MS = 1_000

export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const { concluded, foreign } = addCounters([registry])
  addLoad([registry], sources)
  addFunds([registry], sources)
  addCalls([registry], sources)
  return {
    ...createWebhookMetrics([registry], sources.webhookBacklog),
    ...createLoadMetrics([registry], sources),
    contentType: registry.contentType,
    render: shareRead(() => registry.metrics(), RENDERING_TTL_MS),
    concluded: (kind, outcome) => concluded.inc({ kind, outcome }),
    foundForeign: () => foreign.inc(),
  }
}

function addCounters(registers: Registry[]) {
  return {
    concluded: new Counter({
      name: 'document_registry_intents_concluded_total',
      help: 'Intents by kind (issue, revoke, suspend, release) and outcome (anchored, conflict, distrusted, moot = nothing to do, absent = to be done again)',
      labelNames: ['kind', 'outcome'],
      registers,
    }),
    foreign: new Counter({
      name: 'document_registry_foreign_transactions_total',
      help: 'Nonces that this gateway had signed for, used by a transaction that it did not make: something else writes with its account',
      registers,
    }),
  }
}

/** Adds how much is waiting, and whether documents can be issued. */
function addLoad(registers: Registry[], { depth, stopped }: MetricSources): void {
  new Gauge({
    name: 'document_registry_intents_queued',
    help: 'Intents that wait for a transaction',
    registers,
    collect() {
      this.set(depth().queued)
    },
  })
  new Gauge({
    name: 'document_registry_transactions_in_flight',
    help: 'Transactions that wait for a block',
    registers,
    collect() {
      this.set(depth().inFlight)
    },
  })
  new Gauge({
    name: 'document_registry_issuing_stopped',
    help: '1 under the error code that requests get; absent while documents can be issued',
    labelNames: ['code'],
    registers,
    collect() {
      this.reset()
      const code = stopped()
      if (code !== undefined) this.set({ code }, 1)
    },
  })
}

/** Adds the balance of the account, its fees and their caps. */
function addFunds(registers: Registry[], { balance, spentLastHour, feeCaps }: MetricSources): void {
  new Gauge({
    name: 'document_registry_account_balance_ether',
    help: 'What the issuer account has left for gas; absent when the chain cannot be read',
    registers,
    async collect() {
      this.remove()
      await balance().then(
        (wei) => this.set(inEther(wei)),
        () => {},
      )
    },
  })
  new Gauge({
    name: 'document_registry_fees_last_hour_ether',
    help: 'Fees of the last hour, with all that transactions in flight may cost; compare with the cap; absent when the database cannot be read',
    registers,
    async collect() {
      this.remove()
      await spentLastHour().then(
        (wei) => this.set(inEther(wei)),
        () => {},
      )
    },
  })
  new Gauge({
    name: 'document_registry_fee_cap_ether',
    help: 'What one transaction, and all of an hour, may cost; absent without a cap',
    labelNames: ['of'],
    registers,
    collect() {
      for (const [of, wei] of Object.entries(feeCaps)) this.set({ of }, inEther(wei))
    },
  })
}

/** Adds the calls to nodes, which are what providers bill. */
function addCalls(registers: Registry[], { rpcCalls }: MetricSources): void {
  new Counter({
    name: 'document_registry_rpc_calls_total',
    help: 'Calls to the nodes of the chain, by method',
    labelNames: ['method'],
    registers,
    collect() {
      this.reset()
      for (const [method, calls] of rpcCalls) this.inc({ method }, calls)
    },
  })
}
