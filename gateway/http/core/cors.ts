import type { Hono } from 'hono'
import { cors } from 'hono/cors'
import type { Env } from './env.ts'

/** What readers of IPFS gateways and of did:web send beside the headers that CORS always allows. */
const ALLOWED = ['Content-Type', 'If-None-Match', 'Range', 'User-Agent', 'X-Requested-With']
const EXPOSED = ['ETag', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id']
const MAX_AGE_SECONDS = 86_400

/** For a failure of a public route that never reaches the route. */
export const ANY_ORIGIN = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED.join(','),
} as const

/**
 * Lets pages of every origin use a public route, its failures included: a verify page on another
 * host, or opened from disk. Routes that take an API key stay closed to them, since a page cannot
 * keep a key secret.
 *
 * To be called before the route is added.
 */
export function allowAnyOrigin(app: Hono<Env>, path: string, methods: readonly string[]): void {
  const handler = cors({
    origin: '*',
    allowMethods: [...methods],
    allowHeaders: ALLOWED,
    exposeHeaders: EXPOSED,
    maxAge: MAX_AGE_SECONDS,
  })
  // As a route too, so that the `Allow` of a 405 names it.
  app.options(path, handler)
  app.use(path, handler)
}
