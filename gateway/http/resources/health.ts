import type { Hono } from 'hono'
import * as v from 'valibot'
import { alertsOf } from '#base/alerts.ts'
import type { Metrics } from '#base/metrics.ts'
import { VERSION } from '#base/version.ts'
import type { Readiness } from '#promise/ports.ts'
import type { Env } from '../core/env.ts'
import { succeed } from '../core/envelope.ts'
import { WRITE_ERRORS } from '../core/errors.ts'
import { operation, servePublic } from '../core/operation.ts'
import type { Addresses } from './present.ts'
import * as schemas from './schemas.ts'

export type HealthDeps = {
  /**
   * Rejects with an `IssueError` that has the reason when the gateway cannot issue at the moment.
   */
  assertReady: () => Promise<Readiness>
  /** Seconds since the newest block; negative when the clock is behind the chain. */
  headAge: () => Promise<number>
  /** Below this balance, in wei, `/readyz` warns. */
  lowBalance: bigint
  metrics: Metrics
  /** The version of this service, as in package.json. */
  version: string
  addresses: Addresses
}

const HEALTH = operation({
  operationId: 'checkHealth',
  method: 'get',
  path: '/healthz',
  tag: 'Service',
  summary: 'Check whether the process responds',
  scope: 'public',
  query: {},
  responses: {
    200: {
      description: 'The process responds.',
      data: v.object({ status: v.literal('ok'), version: v.string() }),
      example: { status: 'ok', version: VERSION },
    },
  },
  errors: [],
})

const WARNINGS = ['low_balance', 'may_not_revoke', 'clock_behind_chain'] as const

const READINESS = operation({
  operationId: 'checkReadiness',
  method: 'get',
  path: '/readyz',
  tag: 'Service',
  summary: 'Check whether the service can issue',
  description: 'A 503 has the error code that issuing would return.',
  scope: 'public',
  query: {},
  responses: {
    200: {
      description: 'The service can issue.',
      data: v.object({
        status: v.literal('ready'),
        network: schemas.network,
        registry: schemas.registry,
        warnings: v.array(v.picklist(WARNINGS)),
      }),
      example: {
        status: 'ready',
        network: 'test',
        registry: schemas.EXAMPLE_REGISTRY,
        warnings: [],
      },
    },
  },
  errors: ['account_shared', ...WRITE_ERRORS],
})

const METRICS = operation({
  operationId: 'retrieveMetrics',
  method: 'get',
  path: '/metrics',
  tag: 'Service',
  summary: 'Metrics',
  scope: 'public',
  query: {},
  responses: {
    200: {
      description: 'Metrics in the Prometheus text format, without anything about a document.',
      content: { 'text/plain': null },
    },
  },
  errors: [],
})
export const healthOperations = [HEALTH, READINESS, METRICS]

/** Serves the state of the service, for monitoring. */
export function healthRoutes(app: Hono<Env>, deps: HealthDeps): void {
  servePublic(app, HEALTH, (c) => succeed(c, { status: 'ok', version: deps.version }))
  servePublic(app, METRICS, async (c) =>
    c.body(await deps.metrics.render(), 200, {
      'Content-Type': deps.metrics.contentType,
      'Cache-Control': 'no-store',
    }),
  )
  servePublic(app, READINESS, async (c) => {
    const [{ balance, mayRevoke }, headAge] = await Promise.all([
      deps.assertReady(),
      deps.headAge(),
    ])
    const { lowBalance } = deps
    const warnings = alertsOf({ balance, lowBalance, mayRevoke, headAge })
    const { registry, network } = deps.addresses
    return succeed(c, { status: 'ready', network, registry, warnings })
  })
}
