import * as v from 'valibot'
import { type Alert, alertsOf } from '#base/alerts.ts'
import { VERSION } from '#base/version.ts'
import { succeed } from '../core/envelope.ts'
import { WRITE_ERRORS } from '../core/errors.ts'
import { operation, resource } from '../core/operation.ts'
import * as schemas from './schemas.ts'

const HEALTH = operation({
  operationId: 'checkHealth',
  route: 'GET /healthz',
  tag: 'Service',
  summary: 'Check whether the process responds',
  description: 'It asks neither chain nor database: `/readyz` does.',
  scope: 'public',
  answer: {
    description: 'The process responds.',
    data: v.object({ status: v.literal('ok'), version: v.string() }),
    example: { status: 'ok', version: VERSION },
  },
})

const WARNINGS = ['low_balance', 'may_not_revoke', 'clock_behind_chain'] as const

const READINESS = operation({
  operationId: 'checkReadiness',
  route: 'GET /readyz',
  tag: 'Service',
  summary: 'Check whether the service can issue',
  description: 'A 503 has the error code that issuing would return.',
  scope: 'public',
  answer: {
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
  errors: ['account_shared', ...WRITE_ERRORS],
})

const METRICS = operation({
  operationId: 'retrieveMetrics',
  route: 'GET /metrics',
  tag: 'Service',
  summary: 'Metrics',
  description: 'For a monitor such as Prometheus.',
  scope: 'public',
  answer: {
    description: 'Metrics in the Prometheus text format, without anything about a document.',
    content: { 'text/plain': null },
  },
})

/** Serves the state of the service, for monitoring. */
export const healthRoutes = resource([HEALTH, READINESS, METRICS], (serve, deps) => {
  serve(HEALTH, (c) => succeed(c, HEALTH, { status: 'ok', version: deps.version }))
  serve(METRICS, async (c) =>
    c.body(await deps.metrics.render(), 200, { 'Content-Type': deps.metrics.contentType }),
  )
  serve(READINESS, async (c) => {
    const [{ balance, mayRevoke }, headAge] = await Promise.all([
      deps.assertReady(),
      deps.headAge(),
    ])
    const { lowBalance } = deps
    const alerts: readonly Alert[] = alertsOf({ balance, lowBalance, mayRevoke, headAge })
    const warnings = WARNINGS.filter((one) => alerts.includes(one))
    const { registry, network } = deps.addresses
    return succeed(c, READINESS, { status: 'ready', network, registry, warnings })
  })
})
