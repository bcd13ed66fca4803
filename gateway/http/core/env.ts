import type { Context } from 'hono'
import type { Limit } from '#base/load-metrics.ts'
import type { RateLimiter } from '#base/rate-limit.ts'
import type { Grant } from '#keys/grant.ts'

/** Who may send how many requests a second. */
export type RateLimits = {
  keys: RateLimiter
  addresses: RateLimiter
  /** Of a key without a limit of its own; absent = any number. */
  perKey?: number
  /** Absent = any number. */
  perAddress?: number
  /** The address that a request comes from. */
  addressOf(c: Context): string
  /** Called for each request that is refused. */
  refused(limit: Limit): void
}

/** The variables in a handler's context. */
export type Env = {
  Variables: {
    /** Generated for each request; part of its response and of its log line. */
    requestId: string
    /** Whether the response is an envelope, which carries the id already. */
    isEnvelope?: boolean
    /** Set by `authorize`. */
    grant: Grant
    /** Set by `authorize`. Rejects when the API key has been revoked, or lost the scope, since. */
    assertKey: () => Promise<void>
    /** Set for every request. */
    rateLimits: RateLimits
    /** The header fields of a request that was counted. */
    rateLimitFields?: Record<string, string>
  }
}
