import type { Hono } from 'hono'
import type { Readiness } from '../../issue/ports.ts'
import type { Metrics } from '../../metrics.ts'
import type { Env } from '../env.ts'
import { succeed } from '../envelope.ts'
import { type Addresses, networkOfRegistry } from '../present.ts'

export type HealthDeps = {
  /** Rejects with an `IssueError` that says why when the gateway cannot issue now. */
  assertReady: () => Promise<Readiness>
  /** Wei, under which `/readyz` warns. */
  lowBalance: bigint
  metrics: Metrics
  /** Of this service, as in package.json. */
  version: string
  addresses: Addresses
}

/**
 * GET /healthz: the process responds. GET /readyz: it can issue. GET /metrics: metrics in the
 * Prometheus text format.
 */
export function healthRoutes(app: Hono<Env>, deps: HealthDeps): void {
  app.get('/healthz', (c) => succeed(c, { status: 'ok', version: deps.version }))
  app.get('/metrics', async (c) =>
    c.body(await deps.metrics.render(), 200, {
      'Content-Type': deps.metrics.contentType,
      'Cache-Control': 'no-store',
    }),
  )
  app.get('/readyz', async (c) => {
    const { balance, mayRevoke } = await deps.assertReady()
    const warnings = [
      ...(balance < deps.lowBalance ? ['low_balance'] : []),
      ...(mayRevoke ? [] : ['may_not_revoke']),
    ]
    const { registry } = deps.addresses
    const network = networkOfRegistry(registry)
    return succeed(c, { status: 'ready', network, registry, warnings })
  })
}
