import { Hono } from 'hono'
import type { Scope } from '#keys/grant.ts'
import { answerHeaders } from './core/answer-headers.ts'
import type { Env } from './core/env.ts'
import { fail } from './core/envelope.ts'
import { ApiError } from './core/errors.ts'
import { describeApi } from './core/openapi.ts'
import { type BoundResource, bind, problemOfScopes, serveAll } from './core/operation.ts'
import { chargeUnserved, limitRates } from './core/rate-limits.ts'
import { prefers } from './core/request.ts'
import { requestLog } from './core/request-log.ts'
import type { AppDeps } from './deps.ts'
import { CORE_RESOURCES } from './operations.ts'
import { respondLost } from './pages/home-page.ts'
import { keyRoutes } from './resources/keys.ts'
import { openapiRoutes } from './resources/openapi.ts'

/**
 * @param modules The resources of the modules that are on.
 * @returns The REST API, as a function from request to response.
 */
export function createApp(deps: AppDeps, modules: readonly BoundResource[]): Hono<Env> {
  const app = new Hono<Env>()
  app.use(requestLog(deps.log, deps.metrics))
  app.use(answerHeaders())
  app.use(limitRates(deps.rateLimits))
  const { addresses, version } = deps
  const all: BoundResource[] = [...bind(CORE_RESOURCES, deps), ...modules]
  const describe = (service: Parameters<typeof describeApi>[1]) => describeApi(all, service)
  const problemOf = (scopes: readonly Scope[]) => problemOfScopes(all, scopes)
  all.push(...bind([openapiRoutes], { addresses, version, describe }))
  all.push(...bind([keyRoutes], { keys: deps.keys, log: deps.log, problemOf }))
  serveAll(app, all, { findKey: deps.findKey, authenticators: deps.authenticators })
  app.notFound(async (c) => {
    await chargeUnserved(c)
    if (['GET', 'HEAD'].includes(c.req.method) && prefers(c, 'text/html', 'application/json'))
      return respondLost(c, deps.addresses, 'Accept')
    const why = c.req.path.endsWith('/') ? ': leave out the slash at the end' : ''
    return fail(c, new ApiError('not_found', `no such resource${why}`), deps.log)
  })
  app.onError((error, c) => fail(c, error, deps.log))
  return app
}
