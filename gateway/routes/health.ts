import type { Hono } from 'hono'
import type { Deps } from '../app.ts'
import type { Env } from '../env.ts'
import { succeed } from '../envelope.ts'
import { networkOfRegistry } from '../present.ts'

/** GET /healthz: the process answers. GET /readyz: it can issue. GET /metrics: figures, in the Prometheus text format. */
export function healthRoutes(app: Hono<Env>, deps: Deps): void {
  app.get('/healthz', (c) => succeed(c, { status: 'ok' }))
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
