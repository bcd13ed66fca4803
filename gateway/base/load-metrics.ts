import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

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

/** Durations and sizes as histograms, and refusals. */
export type LoadMetrics = {
  served(request: Served): void
  /** Counts a request that was answered with 429. */
  limited(limit: Limit): void
  /** Records how many intents a signed transaction carries. */
  planned(intents: number): void
  /** Records the time from the durable request to its block. */
  included(kind: string, seconds: number): void
  /** Records the time from its block to the finality of that block. */
  final(kind: string, seconds: number): void
}

export type LoadSources = {
  /** @returns Seconds, negative for a time in the future. Rejects when the chain cannot be read. */
  headAge(): Promise<number>
  /** @returns The number of erasures that have begun and are not finished, counted up to 16. */
  unfinishedErasures(): Promise<number>
}

const LIMITS = ['key', 'address', 'rpc'] as const
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const INCLUSION_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300, 900]
const FINALITY_BUCKETS = [1, 5, 15, 60, 300, 600, 900, 1_200, 1_800, 3_600, 7_200]
const SIZE_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 150, 200]

export function createLoadMetrics(registers: Registry[], sources: LoadSources): LoadMetrics {
  addGauges(registers, sources)
  const requests = new Histogram({
    name: 'document_registry_http_request_seconds',
    help: 'Requests by method, template of the route and class of the status (2xx …)',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_BUCKETS,
    registers,
  })
  const limited = new Counter({
    name: 'document_registry_rate_limited_total',
    help: 'Requests answered 429 by the limit: of a key, an address, or the places of /rpc',
    labelNames: ['limit'],
    registers,
  })
  // Counters start at 0, so that the first refusal is an increase.
  for (const limit of LIMITS) limited.inc({ limit }, 0)
  const sizes = new Histogram({
    name: 'document_registry_transaction_intents',
    help: 'Intents in a new transaction',
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
    help: 'From the block of an intent to its finality, by kind; of blocks seen since the start',
    labelNames: ['kind'],
    buckets: FINALITY_BUCKETS,
    registers,
  })
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
    planned: (intents) => sizes.observe(intents),
    included: (kind, seconds) => inclusion.observe({ kind }, seconds),
    final: (kind, seconds) => finality.observe({ kind }, seconds),
  }
}

/** Adds values that are read for each scrape. */
function addGauges(registers: Registry[], { headAge, unfinishedErasures }: LoadSources): void {
  new Gauge({
    name: 'document_registry_head_age_seconds',
    help: 'Age of the newest block, by its timestamp; absent when the chain cannot be read',
    registers,
    async collect() {
      this.remove()
      await headAge().then(
        (seconds) => this.set(Math.max(0, seconds)),
        () => {},
      )
    },
  })
  new Gauge({
    name: 'document_registry_erasures_unfinished',
    help: 'Documents whose erasure has begun and is not finished; counts to 16; absent when the database cannot be read',
    registers,
    async collect() {
      this.remove()
      await unfinishedErasures().then(
        (count) => this.set(count),
        () => {},
      )
    },
  })
}
