import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { shareRead } from './concurrency.ts'
import { inEther } from './wei.ts'

/** A request that has been answered. */
export type Served = {
  method: string
  /** The template of its route; `*` for a path or method that is not served. */
  route: string
  status: number
  /** The time since the request arrived. */
  milliseconds: number
}

/** The limit that a request reached: the quota of its API key or address, or the places of /rpc. */
export type Limit = (typeof LIMITS)[number]

/**
 * The gateway's metrics in the Prometheus text format. Labels contain no identifier of a client,
 * issuer or document.
 */
export type Metrics = {
  readonly contentType: string
  render(): Promise<string>
  served(request: Served): void
  /** Counts a request that was answered with 429. */
  limited(limit: Limit): void
  /** Counts an action by its outcome. */
  concluded(kind: string, outcome: string): void
  /** Counts a transaction of the account that this gateway did not make. */
  foundForeign(): void
  /** Records how many actions a signed transaction carries. */
  planned(actions: number): void
  /** Records the time from the durable request to its block. */
  included(kind: string, seconds: number): void
  /** Records the time from its block to the finality of that block. */
  final(kind: string, seconds: number): void
  /** Counts an attempt to deliver an event. */
  attemptedDelivery(outcome: 'delivered' | 'failed' | 'given_up'): void
  /** Shows how many receivers have a turn and how many wait for one. */
  showTurns(turns: { quick: number; slow: number; waiting: number }): void
}

/** What webhooks wait for. */
export type WebhookBacklog = {
  /**
   * The number of events that must still be sent to enabled webhooks, whether or not they match
   * their types.
   */
  events: number
  /** The number of enabled webhooks whose last attempt failed. */
  failing: number
  /** The number of webhooks that were disabled because their receiver failed or was gone. */
  disabled: number
}

/** Values that are read for each scrape. Those that cannot be read are then absent. */
export type MetricSources = {
  depth(): { queued: number; refused: number; inFlight: number }
  /** @returns The balance in wei. */
  balance(): Promise<bigint>
  /** @returns The fees in wei. */
  spentLastHour(): Promise<bigint>
  /** The error code that requests get; `undefined` while documents can be issued. */
  stopped(): string | undefined
  /** The caps in wei; absent = no cap. */
  feeCaps: { transaction?: bigint; hour?: bigint }
  /** @returns Seconds, negative for a time in the future. */
  headAge(): Promise<number>
  /** @returns The number of erasures that have begun and are not finished, counted up to 16. */
  unfinishedErasures(): Promise<number>
  /** @returns Milliseconds; `undefined` without a Kubo node. */
  mirrorLag(): Promise<number | undefined>
  webhookBacklog(): Promise<WebhookBacklog>
  /** The number of calls to nodes, by method. */
  rpcCalls: ReadonlyMap<string, number>
}

/**
 * Rendering takes milliseconds of the only thread, so scrapes within this time get the same result.
 */
const RENDERING_TTL_MS = 1_000

const LIMITS = ['key', 'address', 'rpc'] as const
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const INCLUSION_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300, 900]
const FINALITY_BUCKETS = [1, 5, 15, 60, 300, 600, 900, 1_200, 1_800, 3_600, 7_200]
const SIZE_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 150, 200]

export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  addGauges(registers, sources)
  const { served, limited } = addRequests(registers)
  const foreign = new Counter({
    name: 'document_registry_foreign_transactions_total',
    help: 'Nonces that this gateway had signed for, used by a transaction that it did not make: something else writes with its account',
    registers,
  })
  const deliveries = new Counter({
    name: 'document_registry_webhook_deliveries_total',
    help: 'Attempts to deliver an event to a webhook by outcome (delivered, failed), and deliveries given up after three days',
    labelNames: ['outcome'],
    registers,
  })
  const turns = new Gauge({
    name: 'document_registry_webhook_turns',
    help: 'Webhooks that this gateway sends to now, by whether their receiver answers within a second (quick) or not (slow), and those that wait because all slots are taken (waiting)',
    labelNames: ['state'],
    registers,
  })
  return {
    contentType: registry.contentType,
    render: shareRead(() => registry.metrics(), RENDERING_TTL_MS),
    served,
    limited,
    ...addActions(registers),
    foundForeign: () => foreign.inc(),
    attemptedDelivery: (outcome) => deliveries.inc({ outcome }),
    showTurns(now) {
      for (const [state, count] of Object.entries(now)) turns.set({ state }, count)
    },
  }
}

function addRequests(registers: Registry[]): Pick<Metrics, 'served' | 'limited'> {
  const requests = new Histogram({
    name: 'document_registry_http_request_seconds',
    help: 'Requests by method, template of the route and class of the status (2xx …)',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_BUCKETS,
    registers,
  })
  const limited = new Counter({
    name: 'document_registry_rate_limited_total',
    help: 'Requests answered 429 by the limit: of a key, an address, or the slots of /rpc',
    labelNames: ['limit'],
    registers,
  })
  // Counters start at 0, so that the first refusal is an increase.
  for (const limit of LIMITS) limited.inc({ limit }, 0)
  return {
    served({ method, route, status, milliseconds }) {
      const labels = {
        method: METHODS.includes(method) ? method : 'other',
        route,
        status: `${Math.floor(status / 100)}xx`,
      }
      requests.observe(labels, milliseconds / 1000)
    },
    limited: (limit) => limited.inc({ limit }),
  }
}

function addActions(
  registers: Registry[],
): Pick<Metrics, 'concluded' | 'planned' | 'included' | 'final'> {
  const outcomes = new Counter({
    name: 'document_registry_intents_concluded_total',
    help: 'Documents and changes by kind (issue, revoke, suspend, release) and outcome (anchored, conflict, distrusted, moot = nothing to do, absent = to be done again)',
    labelNames: ['kind', 'outcome'],
    registers,
  })
  const sizes = new Histogram({
    name: 'document_registry_transaction_intents',
    help: 'Documents and changes in a new transaction',
    buckets: SIZE_BUCKETS,
    registers,
  })
  const inclusion = new Histogram({
    name: 'document_registry_inclusion_seconds',
    help: 'From the durable request to its block, by kind (issue, revoke, suspend, release)',
    labelNames: ['kind'],
    buckets: INCLUSION_BUCKETS,
    registers,
  })
  const finality = new Histogram({
    name: 'document_registry_finality_seconds',
    help: 'From the block of a document or change to its finality, by kind; of blocks seen since the start',
    labelNames: ['kind'],
    buckets: FINALITY_BUCKETS,
    registers,
  })
  return {
    concluded: (kind, outcome) => outcomes.inc({ kind, outcome }),
    planned: (actions) => sizes.observe(actions),
    included: (kind, seconds) => inclusion.observe({ kind }, seconds),
    final: (kind, seconds) => finality.observe({ kind }, seconds),
  }
}

/** Adds the values that are read for each scrape. */
function addGauges(registers: Registry[], sources: MetricSources): void {
  const { depth, stopped, feeCaps, webhookBacklog, rpcCalls } = sources

  type Value = number | undefined
  function add(name: string, help: string, read: () => Value | Promise<Value>): void {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.remove()
        await attempt(read, (value) => value !== undefined && this.set(value))
      },
    })
  }

  /** @param read Returns a value for each value of the label. */
  function addLabelled(
    [name, label]: readonly [name: string, label: string],
    help: string,
    read: () => Record<string, number> | Promise<Record<string, number>>,
  ): void {
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers,
      async collect() {
        this.reset()
        await attempt(read, (values) => {
          for (const [of, value] of Object.entries(values)) this.set({ [label]: of }, value)
        })
      },
    })
  }

  add(
    'document_registry_intents_queued',
    'Documents and changes that wait for a transaction',
    () => depth().queued,
  )
  add(
    'document_registry_intents_refused',
    'Documents and changes that the chain refused, and that are tried again less and less often',
    () => depth().refused,
  )
  add(
    'document_registry_transactions_in_flight',
    'Transactions that wait for a block',
    () => depth().inFlight,
  )
  addLabelled(
    ['document_registry_issuing_stopped', 'code'],
    '1 under the error code that requests get; absent while documents can be issued',
    () => {
      const code = stopped()
      return code === undefined ? {} : { [code]: 1 }
    },
  )
  add(
    'document_registry_account_balance_ether',
    'What the issuer account has left for gas; absent when the chain cannot be read',
    async () => inEther(await sources.balance()),
  )
  add(
    'document_registry_fees_last_hour_ether',
    'Fees of the last hour, with all that transactions in flight may cost; compare with the cap; absent when the database cannot be read',
    async () => inEther(await sources.spentLastHour()),
  )
  addLabelled(
    ['document_registry_fee_cap_ether', 'of'],
    'What one transaction, and all of an hour, may cost; absent without a cap',
    () => Object.fromEntries(Object.entries(feeCaps).map(([of, wei]) => [of, inEther(wei)])),
  )
  add(
    'document_registry_head_age_seconds',
    'Age of the newest block, by its timestamp; absent when the chain cannot be read',
    async () => Math.max(0, await sources.headAge()),
  )
  add(
    'document_registry_erasures_unfinished',
    'Documents whose erasure has begun and is not finished; counts to 16; absent when the database cannot be read',
    () => sources.unfinishedErasures(),
  )
  add(
    'document_registry_mirror_lag_seconds',
    'For how long payloads have waited to be pinned on Kubo; absent without Kubo, or when the database cannot be read',
    async () => {
      const lag = await sources.mirrorLag()
      return lag === undefined ? undefined : lag / 1000
    },
  )
  add(
    'document_registry_webhook_backlog_events',
    'Events that enabled webhooks have still to get or to skip, over all webhooks; absent when the database cannot be read',
    async () => (await webhookBacklog()).events,
  )
  addLabelled(
    ['document_registry_webhooks', 'state'],
    'Webhooks that fail (nothing was accepted since the last failure), and those disabled because of that, of a 410 or of a backlog that was too old',
    async () => {
      const { failing, disabled } = await webhookBacklog()
      return { failing, disabled }
    },
  )
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

/** Sets what was read; nothing when it cannot be read. */
function attempt<T>(read: () => T | Promise<T>, set: (value: T) => unknown): Promise<void> {
  return Promise.resolve()
    .then(read)
    .then(
      (value) => void set(value),
      () => {},
    )
}
