import type { RateLimiter } from './rate-limit.ts'
import { RecentMap } from './recent-map.ts'

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
