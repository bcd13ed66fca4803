import { Hono } from 'hono'
import { METHOD_NAME_ALL } from 'hono/router'
import type { Bundle } from '../verifier/bundle.ts'
import type { ChainReader, DocumentKey, Eip1193Provider } from '../verifier/ports.ts'
import type { VerifyOptions } from '../verifier/verify.ts'
import type { Deadline } from './deadline.ts'
import type { Env } from './env.ts'
import { fail } from './envelope.ts'
import { ApiError } from './errors.ts'
import type { FindKey } from './grant.ts'
import type { History } from './history.ts'
import type { Issuing } from './issue/issue.ts'
import type { PayloadStore, Readiness, Standing } from './issue/ports.ts'
import type { Revising } from './issue/revise.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { requestLog } from './middleware/request-log.ts'
import type { Addresses } from './present.ts'
import { bundleRoutes } from './routes/bundle.ts'
import { didRoutes } from './routes/did.ts'
import { documentRoutes } from './routes/documents.ts'
import { healthRoutes } from './routes/health.ts'
import { homeRoutes } from './routes/home.ts'
import { ipfsRoutes } from './routes/ipfs.ts'
import { qrRoutes } from './routes/qr.ts'
import { rpcRoutes } from './routes/rpc.ts'
import { verifyRoutes } from './routes/verify.ts'
import { verifyPageRoutes } from './routes/verify-page.ts'
import type { VerifyPage } from './verify-page.ts'

export type Deps = {
  issuing: Issuing
  revising: Revising
  /** Rejects with an `IssueError` that says why when the gateway cannot issue now. */
  assertReady: () => Promise<Readiness>
  /** Wei, under which `/readyz` warns. */
  lowBalance: bigint
  metrics: Metrics
  verifyOptions: VerifyOptions
  /** As the chain of `verifyOptions`, with a storage proof of each reading. */
  provingChain: ChainReader
  bundleOf: (publicId: string, signal: AbortSignal) => Promise<Bundle>
  /** Where the intent to issue this document stands; `undefined` when the outbox has none. */
  standingOf: (key: DocumentKey) => Promise<Standing | undefined>
  store: PayloadStore
  history: History
  /** The issuer's DID document; absent when its domain is elsewhere. */
  didDocument?: object
  /** What the read-only `/rpc` asks. */
  rpc: Eip1193Provider
  findKey: FindKey
  addresses: Addresses
  verifyPage: VerifyPage
  /** How long a request to issue or revoke waits for a block; milliseconds. */
  wait: number
  /** When a request that begins now has to be answered. */
  newDeadline: () => Deadline
  log: Log
}

/** @returns The REST API, as a function from request to response. */
export function createApp(deps: Deps): Hono<Env> {
  const app = new Hono<Env>()
  app.use(requestLog(deps.log))
  homeRoutes(app, deps)
  documentRoutes(app, deps)
  bundleRoutes(app, deps)
  verifyRoutes(app, deps)
  qrRoutes(app, deps)
  ipfsRoutes(app, deps)
  didRoutes(app, deps)
  healthRoutes(app, deps)
  verifyPageRoutes(app, deps)
  rpcRoutes(app, deps)
  refuseOtherMethods(app)
  app.notFound((c) => fail(c, new ApiError('not_found', 'no such resource'), deps.log))
  app.onError((error, c) => fail(c, error, deps.log))
  return app
}

/** A known path with another method is 405 with `Allow` (RFC 9110 §15.5.6), not 404. */
function refuseOtherMethods(app: Hono<Env>): void {
  const methods = new Map<string, Set<string>>()
  for (const { path, method } of app.routes) {
    if (method === METHOD_NAME_ALL) continue
    const known = methods.get(path) ?? new Set()
    known.add(method)
    if (method === 'GET') known.add('HEAD')
    methods.set(path, known)
  }
  for (const [path, known] of methods)
    app.all(path, () => {
      throw new ApiError('method_not_allowed', 'method not allowed', {
        headers: { Allow: [...known].join(', ') },
      })
    })
}
