import { Hono } from 'hono'
import { METHOD_NAME_ALL } from 'hono/router'
import type { Log } from '../log.ts'
import type { Env, RateLimits } from './env.ts'
import { fail } from './envelope.ts'
import { ApiError } from './errors.ts'
import { describeApi } from './openapi.ts'
import { refuseOtherMethods } from './operation.ts'
import { OPERATIONS } from './operations.ts'
import { respondLost } from './pages/home-page.ts'
import { chargeUnserved, limitRates } from './rate-limits.ts'
import { prefers } from './request.ts'
import { requestLog } from './request-log.ts'
import { type BatchRouteDeps, batchRoutes } from './routes/batches.ts'
import { type BulkChangeDeps, bulkChangeRoutes } from './routes/bulk-changes.ts'
import { type BundleDeps, bundleRoutes } from './routes/bundle.ts'
import { type DidDeps, didRoutes } from './routes/did.ts'
import { type DocumentDeps, documentRoutes } from './routes/documents.ts'
import { type EraseDeps, eraseRoutes } from './routes/erase.ts'
import { type EventDeps, eventRoutes } from './routes/events.ts'
import { type HealthDeps, healthRoutes } from './routes/health.ts'
import { type HomeDeps, homeRoutes } from './routes/home.ts'
import { type IpfsDeps, ipfsRoutes } from './routes/ipfs.ts'
import { type KeyDeps, keyRoutes } from './routes/keys.ts'
import { type ListDeps, listRoutes } from './routes/list.ts'
import { openapiRoutes } from './routes/openapi.ts'
import { type QrDeps, qrRoutes } from './routes/qr.ts'
import { type RpcDeps, rpcRoutes } from './routes/rpc.ts'
import { type SupersedeDeps, supersedeRoutes } from './routes/supersede.ts'
import { type VerifyDeps, verifyRoutes } from './routes/verify.ts'
import { type VerifyPageDeps, verifyPageRoutes } from './routes/verify-page.ts'
import { type WebhookDeps, webhookRoutes } from './routes/webhooks.ts'

/** The dependencies of all routes; each route declares its own part. */
export type AppDeps = HomeDeps &
  DocumentDeps &
  EventDeps &
  ListDeps &
  WebhookDeps &
  SupersedeDeps &
  KeyDeps &
  BulkChangeDeps &
  BatchRouteDeps &
  BundleDeps &
  EraseDeps &
  VerifyDeps &
  QrDeps &
  IpfsDeps &
  DidDeps &
  HealthDeps &
  VerifyPageDeps &
  RpcDeps & { log: Log; rateLimits: RateLimits }

/** @returns The REST API, as a function from request to response. */
export function createApp(deps: AppDeps): Hono<Env> {
  const app = new Hono<Env>()
  app.use(requestLog(deps.log, deps.metrics))
  app.use(limitRates(deps.rateLimits))
  homeRoutes(app, deps)
  // Before the documents, of which `search` is none.
  listRoutes(app, deps)
  documentRoutes(app, deps)
  eventRoutes(app, deps)
  webhookRoutes(app, deps)
  supersedeRoutes(app, deps)
  keyRoutes(app, deps)
  bulkChangeRoutes(app, deps)
  batchRoutes(app, deps)
  bundleRoutes(app, deps)
  eraseRoutes(app, deps)
  verifyRoutes(app, deps)
  qrRoutes(app, deps)
  ipfsRoutes(app, deps)
  didRoutes(app, deps)
  healthRoutes(app, deps)
  verifyPageRoutes(app, deps)
  rpcRoutes(app, deps)
  const { addresses, version } = deps
  openapiRoutes(app, () => describeApi(OPERATIONS, { baseUrl: addresses.baseUrl, version }))
  refuseUnknownMethods(app)
  app.notFound(async (c) => {
    await chargeUnserved(c)
    if (['GET', 'HEAD'].includes(c.req.method) && prefers(c, 'text/html', 'application/json'))
      return respondLost(c, addresses, 'Accept')
    return fail(c, new ApiError('not_found', 'no such resource'), deps.log)
  })
  app.onError((error, c) => fail(c, error, deps.log))
  return app
}

/** Refuses the methods of each path that no route serves. */
function refuseUnknownMethods(app: Hono<Env>): void {
  const methods = new Map<string, Set<string>>()
  for (const { path, method } of app.routes) {
    if (method === METHOD_NAME_ALL) continue
    const known = methods.get(path) ?? new Set()
    known.add(method)
    if (method === 'GET') known.add('HEAD')
    methods.set(path, known)
  }
  for (const [path, known] of methods) refuseOtherMethods(app, path, known)
}
