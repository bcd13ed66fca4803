import { Hono } from 'hono'
import { METHOD_NAME_ALL } from 'hono/router'
import type { Log } from '#base/log.ts'
import type { Env, RateLimits } from './core/env.ts'
import { fail } from './core/envelope.ts'
import { ApiError } from './core/errors.ts'
import { describeApi } from './core/openapi.ts'
import { refuseOtherMethods } from './core/operation.ts'
import { chargeUnserved, limitRates } from './core/rate-limits.ts'
import { prefers } from './core/request.ts'
import { requestLog } from './core/request-log.ts'
import { cookieNameOf, knowSessions } from './core/session.ts'
import { OPERATIONS } from './operations.ts'
import { respondLost } from './pages/home-page.ts'
import { type ActDeps, actRoutes } from './resources/acts.ts'
import { type BatchRouteDeps, batchRoutes } from './resources/batches.ts'
import { type BulkRevisionDeps, bulkRevisionRoutes } from './resources/bulk-revisions.ts'
import { type BundleDeps, bundleRoutes } from './resources/bundle.ts'
import { type CertificateDeps, certificateRoutes } from './resources/certificates.ts'
import { type DeskPageDeps, deskPageRoutes } from './resources/desk-page.ts'
import { type DidDeps, didRoutes } from './resources/did.ts'
import { type DocumentDeps, documentRoutes } from './resources/documents.ts'
import { type EraseDeps, eraseRoutes } from './resources/erase.ts'
import { type EventDeps, eventRoutes } from './resources/events.ts'
import { type HealthDeps, healthRoutes } from './resources/health.ts'
import { type HomeDeps, homeRoutes } from './resources/home.ts'
import { type IpfsDeps, ipfsRoutes } from './resources/ipfs.ts'
import { type KeyDeps, keyRoutes } from './resources/keys.ts'
import { type KindDeps, kindRoutes } from './resources/kinds.ts'
import { type ListDeps, listRoutes } from './resources/list.ts'
import { type OfferDeps, offerRoutes } from './resources/offers.ts'
import { openapiRoutes } from './resources/openapi.ts'
import { type OverviewDeps, overviewRoutes } from './resources/overview.ts'
import { type PasskeyDeps, passkeyRoutes } from './resources/passkeys.ts'
import { type PeopleDeps, peopleRoutes } from './resources/people.ts'
import { type ProviderDeps, providerRoutes } from './resources/provider.ts'
import { type QrDeps, qrRoutes } from './resources/qr.ts'
import { type RpcDeps, rpcRoutes } from './resources/rpc.ts'
import { type RunDeps, runRoutes } from './resources/runs.ts'
import { type SessionDeps, sessionRoutes } from './resources/session.ts'
import { type StatusListDeps, statusListRoutes } from './resources/status-lists.ts'
import { type SupersedeDeps, supersedeRoutes } from './resources/supersede.ts'
import { type VerifyDeps, verifyRoutes } from './resources/verify.ts'
import { type VerifyPageDeps, verifyPageRoutes } from './resources/verify-page.ts'
import { type WalletDeps, walletRoutes } from './resources/wallets.ts'
import { type WebhookDeps, webhookRoutes } from './resources/webhooks.ts'

/** The dependencies of all routes. Each route declares its own part. */
export type AppDeps = HomeDeps &
  DocumentDeps &
  ActDeps &
  EventDeps &
  ListDeps &
  WebhookDeps &
  SupersedeDeps &
  KeyDeps &
  KindDeps &
  StatusListDeps &
  SessionDeps &
  ProviderDeps &
  PasskeyDeps &
  PeopleDeps &
  BulkRevisionDeps &
  BatchRouteDeps &
  RunDeps &
  BundleDeps &
  CertificateDeps &
  EraseDeps &
  VerifyDeps &
  OfferDeps &
  WalletDeps &
  QrDeps &
  IpfsDeps &
  DidDeps &
  OverviewDeps &
  HealthDeps &
  VerifyPageDeps &
  DeskPageDeps &
  RpcDeps & { log: Log; rateLimits: RateLimits }

/** @returns The REST API, as a function from request to response. */
export function createApp(deps: AppDeps): Hono<Env> {
  const app = new Hono<Env>()
  app.use(requestLog(deps.log, deps.metrics))
  app.use(limitRates(deps.rateLimits))
  const name = cookieNameOf(deps.addresses.baseUrl)
  app.use(knowSessions({ name, find: (secret) => deps.sessions.find(secret) }))
  homeRoutes(app, deps)
  // Added before the document routes, because `search` would match as a document.
  listRoutes(app, deps)
  documentRoutes(app, deps)
  actRoutes(app, deps)
  eventRoutes(app, deps)
  webhookRoutes(app, deps)
  supersedeRoutes(app, deps)
  keyRoutes(app, deps)
  kindRoutes(app, deps)
  statusListRoutes(app, deps)
  sessionRoutes(app, deps)
  providerRoutes(app, deps)
  passkeyRoutes(app, deps)
  peopleRoutes(app, deps)
  bulkRevisionRoutes(app, deps)
  batchRoutes(app, deps)
  runRoutes(app, deps)
  bundleRoutes(app, deps)
  certificateRoutes(app, deps)
  eraseRoutes(app, deps)
  verifyRoutes(app, deps)
  offerRoutes(app, deps)
  walletRoutes(app, deps)
  qrRoutes(app, deps)
  ipfsRoutes(app, deps)
  didRoutes(app, deps)
  overviewRoutes(app, deps)
  healthRoutes(app, deps)
  verifyPageRoutes(app, deps)
  deskPageRoutes(app, deps)
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
