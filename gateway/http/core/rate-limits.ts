import type { Context, MiddlewareHandler } from 'hono'
import type { RateLimiter } from '#base/rate-limit.ts'
import type { Grant } from '#keys/grant.ts'
import { countedAddress } from './client-address.ts'
import { ANY_ORIGIN } from './cors.ts'
import type { Env, RateLimits } from './env.ts'
import { ApiError } from './errors.ts'

/** Routes under these paths require an API key, which has its own quota. */
const TAKES_KEY = /^\/(v1|api)\//
/** Load balancers use this path, which is never limited. */
const UNLIMITED = '/healthz'
/**
 * Each of these paths has its own quota, so that a monitor can go on while other requests use up
 * the quota of its address.
 */
const MONITORED = ['/readyz', '/metrics']

/** @returns Whether requests to a path count toward the limit of their key or address. */
export const isLimited = (path: string): boolean => path !== UNLIMITED

/** @returns Whether monitors and load balancers request a path again and again. */
export const isMonitored = (path: string): boolean => [UNLIMITED, ...MONITORED].includes(path)

/** Limits requests to public routes by address, and lets `authorize` limit the others by key. */
export function limitRates(limits: RateLimits): MiddlewareHandler<Env> {
  return async (c, next) => {
    c.set('rateLimits', limits)
    const { path, method } = c.req
    // Refusing a preflight would hide the reason from the page.
    if (!TAKES_KEY.test(path) && isLimited(path) && method !== 'OPTIONS') await chargeAddress(c)
    return next()
  }
}

/** @throws {ApiError} `rate_limited` when the key has used up its quota. */
export async function chargeKey(c: Context, { id, rateLimit }: Grant): Promise<void> {
  const { keys, perKey }: RateLimits = c.get('rateLimits')
  const limit = rateLimit ?? perKey
  if (limit !== undefined) await charge(c, keys, { policy: 'key', name: id, limit })
}

/**
 * @param count The number of requests that it counts as.
 * @param fallback The limit where addresses have none.
 * @throws {ApiError} `rate_limited` when the client's address has used up its quota.
 */
export async function chargeAddress(c: Context, count = 1, fallback?: number): Promise<void> {
  const { addresses, perAddress: limit = fallback, addressOf }: RateLimits = c.get('rateLimits')
  if (limit === undefined) return
  const address = countedAddress(addressOf(c))
  const name = MONITORED.includes(c.req.path) ? `${address} ${c.req.path}` : address
  await charge(c, addresses, { policy: 'address', name, limit }, Math.min(count, limit))
}

/** The requests that an attempt to sign in counts as, so that few are possible. */
const SIGN_IN_COST = 10
/**
 * The limit of an address for attempts to sign in where requests have none: 100 a second, because
 * everybody may come from the address of a proxy.
 */
const SIGN_IN_LIMIT = 1_000

/** Charges the address for an attempt to sign in, also where addresses have no other limit. */
export async function chargeSignIn(c: Context): Promise<void> {
  await chargeAddress(c, SIGN_IN_COST, SIGN_IN_LIMIT)
}

/**
 * Charges the address of a public route for work that costs as much as several requests. {@link
 * limitRates} has already counted one of them.
 *
 * @param cost A number of requests. A full quota is enough for any.
 */
export async function chargeCost(c: Context, cost: number): Promise<void> {
  const { perAddress = 1 }: RateLimits = c.get('rateLimits')
  await chargeAddress(c, Math.min(cost, perAddress) - 1)
}

/**
 * Charges for a path or method that is not served, because no route under `/v1` has then asked for
 * a key.
 */
export async function chargeUnserved(c: Context): Promise<void> {
  if (TAKES_KEY.test(c.req.path)) await chargeAddress(c)
}

type Quota = { policy: 'key' | 'address'; name: string; limit: number }

/** Sets the header fields of draft-ietf-httpapi-ratelimit-headers-10. */
async function charge(
  c: Context,
  limiter: RateLimiter,
  { policy, name, limit }: Quota,
  count = 1,
): Promise<void> {
  const takes = Array.from({ length: count }, () => limiter.take(name, limit))
  const last = (await Promise.all(takes)).at(-1)
  if (last === undefined) return
  const { isAllowed, remaining, resetSeconds, retryAfterSeconds } = last
  c.set('rateLimitFields', {
    'RateLimit-Policy': `"${policy}";q=${limit};w=1`,
    RateLimit: `"${policy}";r=${remaining};t=${resetSeconds}`,
  })
  if (isAllowed) return
  const { refused }: RateLimits = c.get('rateLimits')
  refused(policy)
  throw new ApiError(
    'rate_limited',
    `too many requests: each ${policy} may send ${limit} per second`,
    {
      headers: { 'Retry-After': `${retryAfterSeconds}`, ...(policy === 'address' && ANY_ORIGIN) },
    },
  )
}
