import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import type { Env } from '../env.ts'
import type { Log } from '../log.ts'

/** The path that this middleware itself has: all that remains of a request to an unknown path. */
const ANY_PATH = '/*'

/**
 * Gives each request an id, which its response carries, and logs one line for it. The line has the template of the route and
 * never the path: a path can hold a publicId. An id that a client sends is not taken over: whoever reads the log must be able
 * to rely on it.
 */
export function requestLog(log: Log): MiddlewareHandler<Env> {
  return async (c, next) => {
    const started = performance.now()
    const requestId = crypto.randomUUID()
    c.set('requestId', requestId)
    c.header('X-Request-Id', requestId)
    await next()
    const template = routePath(c, -1)
    log.info('request', {
      method: c.req.method,
      route: template === ANY_PATH ? '*' : template,
      status: c.res.status,
      milliseconds: Math.round(performance.now() - started),
      requestId,
    })
  }
}
