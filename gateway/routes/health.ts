import type { Hono } from 'hono'
import type { Deps } from '../app.ts'
import { succeed } from '../envelope.ts'
import { ApiError } from '../errors.ts'
import { IssueError } from '../issue/errors.ts'
import type { Authorized } from '../middleware/authorize.ts'

/** GET /healthz: the process answers. GET /readyz: it can issue. */
export function healthRoutes(app: Hono<Authorized>, deps: Deps): void {
  app.get('/healthz', (c) => succeed(c, { status: 'ok' }))
  app.get('/readyz', async (c) => {
    try {
      await deps.assertReady()
    } catch (error) {
      if (!(error instanceof IssueError)) throw error
      throw new ApiError(error.code, `cannot issue: ${error.message}`)
    }
    return succeed(c, { status: 'ready', registry: deps.addresses.registry })
  })
}
