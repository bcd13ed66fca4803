import type { Context, Hono } from 'hono'
import type * as v from 'valibot'
import type { FindKey, Scope } from '#keys/grant.ts'
import { authorize, requireSession } from './authorize.ts'
import type { Env } from './env.ts'
import type { ApiErrorCode } from './error-table.ts'
import { ApiError } from './errors.ts'
import { chargeUnserved, isLimited } from './rate-limits.ts'
import type { Query } from './request.ts'

/**
 * One kind of success, or a failure without the envelope. It has at most one of `data` and
 * `content`; without both, the body is empty.
 */
export type Success = {
  description: string
  /** The `data` of the envelope. */
  data?: v.GenericSchema
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

/**
 * The parameters and answers of a route. Its checks, its entry in `/openapi.json` and the generated
 * client all come from here.
 */
export type Operation<
  P extends string = string,
  Q extends v.ObjectEntries = v.ObjectEntries,
  S extends Access = Access,
> = {
  /** Unique; the name of the method in generated clients. */
  operationId: string
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** The path as Hono writes it, such as `/v1/documents/:publicId`. */
  path: P
  tag: Tag
  summary: string
  /** The description in CommonMark. */
  description?: string
  /** The scope that the API key or session must have; `public` requires neither. */
  scope: S
  /** All parameters in the path. */
  parameters?: v.ObjectEntries
  /** The query parameters. Routes with a scope refuse any other. */
  query: Q
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
  responses: Record<number, Success>
  /** Error codes besides those that {@link errorsOf} adds. */
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

/** Infers the types of an operation that are not written out. */
export function operation<
  const P extends string,
  Q extends v.ObjectEntries,
  const S extends Access,
>(declared: Operation<P, Q, S>): Operation<P, Q, S> {
  return declared
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
    ...(scope !== 'public' && method !== 'get' ? (['csrf_token_required'] as const) : []),
    ...('publicId' in named ? (['bad_public_id'] as const) : []),
    ...(body && !body.mediaType
      ? (['not_json', 'too_large', 'bad_json', 'bad_fields'] as const)
      : []),
    ...errors,
  ]
}

type Handler<P extends string, Q extends v.ObjectEntries> = (
  c: Context<Env & { Variables: { query: Query<Q> } }, P>,
) => Response | Promise<Response>

/** @returns The same path under `/api`, which is another name of `/v1` (spec §6). */
export function aliasOf(path: string): string | undefined {
  return path.startsWith('/v1/') ? path.replace('/v1/', '/api/') : undefined
}

/** @returns The paths under which an operation is served. */
export const pathsOf = (path: string): string[] =>
  [path, aliasOf(path)].filter((served) => served !== undefined)

/** Serves an operation, also under its alias, to requests whose API key has the scope. */
export function serve<P extends string, Q extends v.ObjectEntries>(
  app: Hono<Env>,
  { method, path, scope, query }: Operation<P, Q, Scope>,
  findKey: FindKey,
  handler: Handler<P, Q>,
): void {
  for (const served of pathsOf(path))
    app.on(method.toUpperCase(), served, authorize(findKey, scope, query), (c) =>
      handler(c as unknown as Parameters<Handler<P, Q>>[0]),
    )
}

/** Serves an operation, also under its alias, to people who are signed in. */
export function serveSession<P extends string, Q extends v.ObjectEntries>(
  app: Hono<Env>,
  { method, path, query }: Operation<P, Q, 'session'>,
  handler: Handler<P, Q>,
): void {
  for (const served of pathsOf(path))
    app.on(method.toUpperCase(), served, requireSession(query), (c) =>
      handler(c as unknown as Parameters<Handler<P, Q>>[0]),
    )
}

/** Answers every other method of a path with 405 and `Allow` (RFC 9110 §15.5.6), not 404. */
export function refuseOtherMethods(app: Hono<Env>, path: string, known: Iterable<string>): void {
  app.all(path, async (c) => {
    await chargeUnserved(c)
    throw new ApiError('method_not_allowed', 'method not allowed', {
      headers: { Allow: [...known].join(', ') },
    })
  })
}

/** Serves an operation, also under its alias, to everybody. Its handler reads the query itself. */
export function servePublic<P extends string, Q extends v.ObjectEntries>(
  app: Hono<Env>,
  { method, path }: Operation<P, Q, 'public'>,
  handler: (c: Context<Env, P>) => Response | Promise<Response>,
): void {
  for (const served of pathsOf(path))
    app.on(method.toUpperCase(), served, (c) => handler(c as unknown as Context<Env, P>))
}
