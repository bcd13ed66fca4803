import type { Context } from 'hono'
import type { Limit } from '#base/metrics.ts'
import type { RateLimiter } from '#base/rate-limit.ts'
import type { Grant } from '#keys/grant.ts'

/** The requests per second that a client may send. */
export type RateLimits = {
  keys: RateLimiter
  addresses: RateLimiter
  /** The limit of a key without its own; absent = no limit. */
  perKey?: number
  /** The limit of an address; absent = no limit. */
  perAddress?: number
  /** The address that a request comes from. */
  addressOf(c: Context): string
  /** Called for each request that is refused. */
  refused(limit: Limit): void
}

/**
 * Finds out who sends a request that has no key.
 *
 * @returns What they may do; `undefined` when they do not show who they are in this way.
 * @throws {ApiError} when they do, and the request must not be carried out.
 */
export type Authenticate = (c: Context<Env>) => Promise<Grant | undefined>

/** The variables in a handler's context. */
export type Env = {
  Variables: {
    /** Generated for each request; part of its response and of its log line. */
    requestId: string
    /** Set by `authorize`. */
    grant: Grant
    /** Set by `authorize`. Rejects when the API key has since been revoked or lost the scope. */
    assertKey: () => Promise<void>
    /** Set for every request. */
    rateLimits: RateLimits
    /** The query parameters. Set by `authorize` and `requireSession`. */
    query: unknown
    /** What an authenticator keeps for the handlers that belong to it. */
    authenticated: unknown
    /** The header fields of a request that was counted. */
    rateLimitFields?: Record<string, string>
  }
}
