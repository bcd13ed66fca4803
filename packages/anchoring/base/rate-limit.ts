import { RecentMap } from './recent-map.ts'

/** The state of a quota after a request. */
export type Allowance = {
  isAllowed: boolean
  /** The number of requests that are left. */
  remaining: number
  /** Seconds until the quota is full again, rounded up. */
  resetSeconds: number
  /** Seconds until the next request is allowed, rounded up, at least 1. */
  retryAfterSeconds: number
}

/** Counts requests. */
export type RateLimiter = {
  /**
   * Takes one request from a quota. A request that is not allowed takes nothing.
   *
   * @param name The owner of the quota.
   * @param perSecond The size of the quota, and how much of it comes back in a second.
   */
  take(name: string, perSecond: number): Promise<Allowance>
}

const WINDOW_MS = 1_000
/** Allows for the rounding of fractions of a millisecond. */
const EPSILON = 1e-6

/**
 * A token bucket for each name, stored as one number: the time at which the bucket is full again
 * (GCRA, the generic cell rate algorithm of ITU-T I.371).
 *
 * @param maxNames The maximum number of names in memory. Names that were seen longest ago start
 * again with a full bucket.
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
