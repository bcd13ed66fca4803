import type { Context, Hono, MiddlewareHandler } from 'hono'
import type * as v from 'valibot'
import type { Scope } from '#keys/grant.ts'
import type { AppDeps } from '../deps.ts'
import { type Authenticating, authorize, requireSession } from './authorize.ts'
import { allowAnyOrigin } from './cors.ts'
import type { Env } from './env.ts'
import type { ApiErrorCode } from './error-table.ts'
import { ApiError } from './errors.ts'
import { chargeUnserved, isLimited } from './rate-limits.ts'
import type { Query } from './request.ts'

/**
 * One kind of success, or a failure without the envelope. It has at most one of `data` and
 * `content`; without both, the body is empty.
 */
export type Success<D extends v.GenericSchema = v.GenericSchema> = {
  description: string
  /** The `data` of the envelope. */
  data?: D
  /** The body without the envelope, by media type; `null` = bytes or text of any form. */
  content?: Record<string, v.GenericSchema | null>
  /** In an NDJSON answer, the `data` of a line that succeeded. */
  lines?: v.GenericSchema
  headers?: v.ObjectEntries
  /**
   * An example of `data` or of the only content. A test compares it with the answer of a real
   * gateway.
   */
  example?: unknown
}

/** The scope that is needed; or a session, which is not a key; or nothing. */
export type Access = Scope | 'session' | 'public'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * The parameters and answers of a route. Its checks, its entry in `/openapi.json` and the generated
 * client all come from here.
 */
type Declared<
  P extends string = string,
  Q extends v.ObjectEntries = v.ObjectEntries,
  S extends Access = Access,
  D extends v.GenericSchema = v.GenericSchema,
> = {
  /** Unique; the name of the method in generated clients. */
  operationId: string
  /** The method, and the path as Hono writes it, such as `GET /v1/documents/:publicId`. */
  route: `${Method} ${P}`
  tag: Tag
  summary: string
  /** The description in CommonMark. */
  description?: string
  /** The scope that the API key or session must have; `public` requires neither. */
  scope: S
  /** A second scope that it needs. */
  alsoScope?: Scope
  /**
   * Lets pages of every origin use a public route, also its failures. A verify page can be on
   * another host or opened from disk. Routes that require an API key stay closed to pages, which
   * cannot keep a key secret.
   */
  anyOrigin?: true
  /** All parameters in the path. */
  parameters?: v.ObjectEntries
  /** The query parameters. Routes with a scope refuse any other. */
  query?: Q
  /** Request headers besides `Authorization` and `Content-Type`, in lower case. */
  headers?: v.ObjectEntries
  /**
   * `example` is a request that a test sends to a real gateway. A route with `isOptional` reads its
   * body with `readOptionalJson`.
   */
  body?: {
    schema: v.GenericSchema
    mediaType?: string
    example: unknown
    isOptional?: true
    /** Whether a client may send the elements of the array as NDJSON. */
    isNdjsonToo?: true
    /** In an NDJSON body, the schema of one line. */
    lines?: v.GenericSchema
  }
  /** The value of each required query parameter in the example. */
  exampleQuery?: Record<string, string>
  /** The only kind of success; with the status 200 unless it says another. */
  answer?: Success<D> & { status?: number }
  /** Several kinds of successes, by status. */
  responses?: Record<number, Success<D>>
  /** Error codes besides those that {@link errorsOf} adds. */
  errors?: readonly ApiErrorCode[]
}

export type Operation<
  P extends string = string,
  Q extends v.ObjectEntries = v.ObjectEntries,
  S extends Access = Access,
  D extends v.GenericSchema = v.GenericSchema,
> = Omit<Declared<P, Q, S, D>, 'route' | 'answer'> & {
  method: Method
  path: P
  query: Q
  responses: Record<number, Success<D>>
  errors: readonly ApiErrorCode[]
}

/** The sections of the reference, in their order. */
export const TAGS = {
  Documents: 'Issue, retrieve and change documents.',
  Certificates: 'Documents as PDF, for print.',
  Batches: 'Issue many documents by one transaction, and change them together.',
  Runs: 'Issue many documents without waiting for them.',
  Verification: 'Check a document. Needs nothing of the issuer.',
  Events: 'What happened to documents, in order.',
  Webhooks: 'Events, sent to an address of yours.',
  Kinds: 'Kinds of documents: the fields of each category, and their names.',
  Keys: 'API keys, for administrators.',
  People: 'People who use the desk, their passkeys and sessions.',
  Wallets: 'Documents for wallets, as credentials (OpenID4VCI 1.0).',
  Public: 'For readers and programs without an API key.',
  Service: 'The state and the description of this service.',
} as const
export type Tag = keyof typeof TAGS

export function operation<
  const P extends string,
  const S extends Access,
  Q extends v.ObjectEntries = Record<never, never>,
  D extends v.GenericSchema = never,
>(declared: Declared<P, Q, S, D>): Operation<P, Q, S, D> {
  const { route, query, answer, errors = [], ...rest } = declared
  const [method, path] = route.split(' ') as [Method, P]
  const responses = { ...declared.responses, ...(answer && { [answer.status ?? 200]: answer }) }
  return { ...rest, method, path, query: query ?? ({} as Q), responses, errors }
}

/** @returns Every code that the operation can fail with, except `internal`, which is a bug. */
export function errorsOf({
  path,
  method,
  scope,
  body,
  parameters,
  query,
  errors,
}: Operation): ApiErrorCode[] {
  const named = { ...parameters, ...query }
  return [
    ...(isLimited(path) ? (['rate_limited'] as const) : []),
    ...(scope !== 'public' ? (['unauthorized', 'bad_query'] as const) : []),
    ...(scope !== 'public' && scope !== 'session' ? (['forbidden'] as const) : []),
    ...(scope !== 'public' && method !== 'GET' ? (['csrf_token_required'] as const) : []),
    ...('publicId' in named ? (['bad_public_id'] as const) : []),
    ...(body && !body.mediaType
      ? (['not_json', 'too_large', 'bad_json', 'bad_fields'] as const)
      : []),
    ...errors,
    // Whatever writes can lose the answer of the database.
    ...(method !== 'GET' && errors.includes('store_unavailable')
      ? (['outcome_unknown'] as const)
      : []),
  ]
}

/** Public handlers read the query themselves. */
type Handler<P extends string, Q extends v.ObjectEntries, S extends Access> = (
  c: Context<S extends 'public' ? Env : Env & { Variables: { query: Query<Q> } }, P>,
) => Response | Promise<Response>

/** Serves an operation with this handler. */
type Serve = <P extends string, Q extends v.ObjectEntries, S extends Access>(
  operation: Operation<P, Q, S>,
  handler: Handler<P, Q, S>,
) => void

/** Schemas by the names that /openapi.json gives them. */
export type Components = Readonly<Record<string, v.GenericSchema>>

/** Ways to show who sends a request, as OpenAPI describes them, by their names. */
export type SecuritySchemes = Readonly<Record<string, object>>

/** What a resource says about itself. */
export type DescribedResource = {
  operations: readonly Operation[]
  components: Components
  /** @returns What it adds to API keys, at this address of the service. */
  security(baseUrl: string): SecuritySchemes
}

/** The operations of one subject, whose handlers need `D`. */
export type Resource<D = AppDeps> = DescribedResource & {
  /** Gives each operation its handler. */
  routes(serve: Serve, deps: D): void
}

/** A resource that has what it needs. */
export type BoundResource = DescribedResource & { routes(serve: Serve): void }

/**
 * Infers the types of a resource that are not written out.
 *
 * @param components Schemas that clients know by a name.
 * @param security Absent = it adds none.
 */
export const resource = <D = AppDeps>(
  operations: readonly Operation[],
  routes: (serve: Serve, deps: D) => void,
  components: Components = {},
  security: DescribedResource['security'] = () => ({}),
): Resource<D> => ({ operations, components, routes, security })

export const bind = <D>(resources: readonly Resource<D>[], deps: D): BoundResource[] =>
  resources.map((one) => ({ ...one, routes: (serve) => one.routes(serve, deps) }))

/** @returns The same path under `/api`, which is another name of `/v1`. */
export function aliasOf(path: string): string | undefined {
  return path.startsWith('/v1/') ? path.replace('/v1/', '/api/') : undefined
}

/** Serves the operations of all resources, each also under its alias. */
export function serveAll(
  app: Hono<Env>,
  resources: readonly BoundResource[],
  authenticating: Authenticating,
): void {
  const served = new Map<string, { operation: Operation; handlers: AnyHandler[] }[]>()
  const serve: Serve = (operation, handler) => {
    const { path } = operation
    const handlers = [...checksOf(operation, authenticating), handler as unknown as AnyHandler]
    for (const name of new Set([path, aliasOf(path) ?? path]))
      served.set(name, [...(served.get(name) ?? []), { operation, handlers }])
  }
  for (const { routes } of resources) routes(serve)
  // A path without parameters comes first: `/v1/documents/search` would match as a document.
  const paths = [...served].sort(([a], [b]) => Number(a.includes(':')) - Number(b.includes(':')))
  for (const [path, routes] of paths) {
    const methods: string[] = routes.map(({ operation }) => operation.method)
    if (methods.includes('GET')) methods.push('HEAD')
    if (routes.some(({ operation }) => operation.anyOrigin && operation.path === path)) {
      allowAnyOrigin(app, path, methods)
      methods.unshift('OPTIONS')
    }
    for (const { operation, handlers } of routes) app.on([operation.method], [path], ...handlers)
    refuseOtherMethods(app, path, methods)
  }
}

type AnyHandler = MiddlewareHandler<Env>

/** @returns The scopes that an API key needs; none for what is public or needs a session. */
export function scopesOf({ scope, alsoScope }: Operation): Scope[] {
  if (scope === 'public' || scope === 'session') return []
  return alsoScope ? [scope, alsoScope] : [scope]
}

/** @returns Why a key may not get these scopes: one that it can do nothing with misleads. */
export function problemOfScopes(
  resources: readonly DescribedResource[],
  scopes: readonly Scope[],
): string | undefined {
  const used = resources.flatMap(({ operations }) => operations.flatMap(scopesOf))
  const absent = scopes.find((one) => one !== 'admin' && !used.includes(one))
  return absent && `no route needs ${absent}, because its module is off (MODULES)`
}

/** @returns What runs before the handler of an operation. */
function checksOf(operation: Operation, authenticating: Authenticating) {
  const { scope, query } = operation
  if (scope === 'public') return []
  if (scope === 'session') return [requireSession(authenticating.authenticators, query)]
  return [authorize(authenticating, scopesOf(operation), query)]
}

/** Answers every other method of a path with 405 and `Allow` (RFC 9110 §15.5.6), not 404. */
function refuseOtherMethods(app: Hono<Env>, path: string, known: readonly string[]): void {
  app.all(path, async (c) => {
    await chargeUnserved(c)
    throw new ApiError('method_not_allowed', 'method not allowed', {
      headers: { Allow: known.join(', ') },
    })
  })
}
