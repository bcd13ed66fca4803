import { RecentMap } from './recent-map.ts'

/** What a request took from its quota. */
export type Allowance = {
  isAllowed: boolean
  /** Requests that are left now. */
  remaining: number
  /** Until the quota is full again; seconds, rounded up. */
  resetSeconds: number
  /** Until the next request is allowed; seconds, rounded up, at least 1. */
  retryAfterSeconds: number
}

/** Counts requests. */
export type RateLimiter = {
  /**
   * Takes one request from a quota. A request that is not allowed takes nothing.
   *
   * @param name Whose quota.
   * @param perSecond Its size, and what comes back in a second.
   */
  take(name: string, perSecond: number): Promise<Allowance>
}

const WINDOW_MS = 1_000
/** Against the rounding of fractions of a millisecond. */
const EPSILON = 1e-6

/**
 * A token bucket for each name. It is one number, the time at which the bucket is full again (GCRA,
 * the generic cell rate algorithm of ITU-T I.371).
 *
 * @param maxNames Names in memory at a time; those seen longest ago start afresh.
 */
export function createMemoryRateLimiter(maxNames: number): RateLimiter {
  const buckets = new RecentMap<{ fullAt: number }>(maxNames)

  return {
    async take(name, perSecond) {
      const now = performance.now()
      let bucket = buckets.get(name)
      if (bucket === undefined) {
        bucket = { fullAt: now }
        buckets.add(name, bucket)
      }
      const cost = WINDOW_MS / perSecond
      const fullAt = Math.max(bucket.fullAt, now) + cost
      const excess = fullAt - now - WINDOW_MS
      const isAllowed = excess <= EPSILON
      if (isAllowed) bucket.fullAt = fullAt
      const missing = bucket.fullAt - now
      return {
        isAllowed,
        remaining: Math.floor((WINDOW_MS - missing) / cost + EPSILON),
        resetSeconds: Math.ceil(missing / 1000),
        retryAfterSeconds: Math.max(1, Math.ceil(excess / 1000)),
      }
    },
  }
}
