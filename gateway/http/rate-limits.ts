import type { Context, MiddlewareHandler } from 'hono'
import type { Grant } from '../grant.ts'
import type { RateLimiter } from '../rate-limit.ts'
import { countedAddress } from './client-address.ts'
import { ANY_ORIGIN } from './cors.ts'
import type { Env, RateLimits } from './env.ts'
import { ApiError } from './errors.ts'

/** Their routes take an API key, which has a quota of its own. */
const TAKES_KEY = /^\/(v1|api)\//
/** What monitors and load balancers ask is never refused. Their answers are shared or cheap. */
const UNLIMITED = ['/healthz', '/readyz', '/metrics']

/** @returns Whether requests to a path count for their key or address. */
export function isLimited(path: string): boolean {
  return !UNLIMITED.includes(path)
}

/** Limits requests to public routes by address, and lets `authorize` limit the others by key. */
export function limitRates(limits: RateLimits): MiddlewareHandler<Env> {
  return async (c, next) => {
    c.set('rateLimits', limits)
    const { path, method } = c.req
    // A preflight that is refused would hide the reason from the page.
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

/** @throws {ApiError} `rate_limited` when the client's address has used up its quota. */
export async function chargeAddress(c: Context): Promise<void> {
  const { addresses, perAddress, addressOf }: RateLimits = c.get('rateLimits')
  if (perAddress === undefined) return
  const name = countedAddress(addressOf(c))
  await charge(c, addresses, { policy: 'address', name, limit: perAddress })
}

type Quota = { policy: 'key' | 'address'; name: string; limit: number }

/** The fields of draft-ietf-httpapi-ratelimit-headers-10. */
async function charge(
  c: Context,
  limiter: RateLimiter,
  { policy, name, limit }: Quota,
): Promise<void> {
  const { isAllowed, remaining, resetSeconds, retryAfterSeconds } = await limiter.take(name, limit)
  c.set('rateLimitFields', {
    'RateLimit-Policy': `"${policy}";q=${limit};w=1`,
    RateLimit: `"${policy}";r=${remaining};t=${resetSeconds}`,
  })
  if (isAllowed) return
  const { refused }: RateLimits = c.get('rateLimits')
  refused(policy)
  throw new ApiError('rate_limited', `at most ${limit} requests per second for each ${policy}`, {
    headers: { 'Retry-After': `${retryAfterSeconds}`, ...(policy === 'address' && ANY_ORIGIN) },
  })
}
