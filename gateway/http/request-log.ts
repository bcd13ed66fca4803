import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Env } from './env.ts'

/** The route template of this middleware: all that is logged of a request to an unknown path. */
const ANY_PATH = '/*'

/**
 * Gives each request an id, which its response carries, measures it, and logs one line for it. The
 * line has the template of the route and never the path: a path can hold a publicId. An id sent by
 * a client is ignored, so that the ids in the log are unique.
 */
export function requestLog(log: Log, { served }: Pick<Metrics, 'served'>): MiddlewareHandler<Env> {
  return async (c, next) => {
    const started = performance.now()
    const requestId = crypto.randomUUID()
    c.set('requestId', requestId)
    await next()
    if (!c.get('isEnvelope')) {
      c.res.headers.set('X-Request-Id', requestId)
      for (const [name, value] of Object.entries(c.get('rateLimitFields') ?? {}))
        c.res.headers.set(name, value)
    }
    const template = routePath(c, -1)
    const request = {
      method: c.req.method,
      route: template === ANY_PATH ? '*' : template,
      status: c.res.status,
    }
    const milliseconds = performance.now() - started
    served({ ...request, milliseconds })
    log.info('request', { ...request, milliseconds: Math.round(milliseconds), requestId })
  }
}
