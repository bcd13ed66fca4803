import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { METHOD_NAME_ALL } from 'hono/router'
import type { Log } from '#base/log.ts'
import type { Metrics } from '#base/metrics.ts'
import type { Env } from './env.ts'
import { isMonitored } from './rate-limits.ts'

/** The route template of this middleware. Of a request to an unknown path, only this is logged. */
const ANY_PATH = '/*'
/**
 * The maximum number of lines for one route and status in this time. Further requests share one
 * line.
 */
const MAX_LINES = 10
const WINDOW_SECONDS = 10

/** The fields of a log line. */
type Answered = {
  method: string
  /** The template of the route; `*` for an unknown path. */
  route: string
  status: number
  milliseconds: number
  requestId: string
}

/**
 * Gives each request an id, which its response carries, measures it, and logs it. The log has the
 * template of the route and never the path: a path can hold a publicId. An id sent by a client is
 * ignored, so that the ids in the log are unique.
 */
export function requestLog(log: Log, metrics: Pick<Metrics, 'served'>): MiddlewareHandler<Env> {
  const write = createRequestLines(log)
  return async (c, next) => {
    const started = performance.now()
    const requestId = crypto.randomUUID()
    c.set('requestId', requestId)
    await next()
    const matched = matchedRoutes(c)
    // Middleware and the routes that refuse other methods match too.
    const served = matched.findLast((one) => one.method !== METHOD_NAME_ALL)?.path
    const template = served ?? matched.at(-1)?.path ?? ANY_PATH
    const { method } = c.req
    const { status } = c.res
    const milliseconds = performance.now() - started
    // Otherwise each method on each unknown path would have its own metrics.
    metrics.served({ method, route: served ?? '*', status, milliseconds })
    const route = template === ANY_PATH ? '*' : template
    write({ method, route, status, milliseconds: Math.round(milliseconds), requestId })
  }
}

/**
 * @returns A function that writes a line for each request. Frequent refusals and requests of
 * monitors are summed up, because they must not fill the disk.
 */
export function createRequestLines(log: Log): (request: Answered) => void {
  const counts = new Map<string, Pick<Answered, 'route' | 'status'> & { count: number }>()

  function sumUp(): void {
    for (const { count, ...kind } of counts.values())
      if (count > MAX_LINES)
        log.info('requests_summed', { ...kind, count: count - MAX_LINES, seconds: WINDOW_SECONDS })
    counts.clear()
  }

  return (request) => {
    const { route, status } = request
    const isRefusal = status >= 400 && status < 500
    if (isRefusal || isMonitored(route)) {
      if (counts.size === 0) setTimeout(sumUp, WINDOW_SECONDS * 1000).unref()
      const kind = `${route} ${status}`
      const count = (counts.get(kind)?.count ?? 0) + 1
      counts.set(kind, { route, status, count })
      if (count > MAX_LINES) return
    }
    log.info('request', request)
  }
}
