import type { Hono } from 'hono'
import type { Deps } from '../app.ts'
import { succeed } from '../envelope.ts'
import type { Authorized } from '../middleware/authorize.ts'

/** GET /healthz: the process answers. GET /readyz: it can issue. */
export function healthRoutes(app: Hono<Authorized>, deps: Deps): void {
  app.get('/healthz', (c) => succeed(c, { status: 'ok' }))
  app.get('/readyz', async (c) => {
    await deps.assertReady()
    return succeed(c, { status: 'ready', registry: deps.addresses.registry })
  })
}
