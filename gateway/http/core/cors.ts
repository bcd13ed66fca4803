import type { Hono } from 'hono'
import { cors } from 'hono/cors'
import type { Env } from './env.ts'

/** Headers that readers of IPFS gateways and did:web send besides those that CORS always allows. */
const ALLOWED = ['Content-Type', 'If-None-Match', 'Range', 'User-Agent', 'X-Requested-With']
const EXPOSED = ['ETag', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id']
const MAX_AGE_SECONDS = 86_400

/** Used for a failure of a public route that never reaches the route. */
export const ANY_ORIGIN = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED.join(','),
} as const

/** Call this before the route is added. */
export function allowAnyOrigin(app: Hono<Env>, path: string, methods: readonly string[]): void {
  const handler = cors({
    origin: '*',
    allowMethods: [...methods],
    allowHeaders: ALLOWED,
    exposeHeaders: EXPOSED,
    maxAge: MAX_AGE_SECONDS,
  })
  // `OPTIONS` is a route too, so that the `Allow` header of a 405 response names it.
  app.options(path, handler)
  app.use(path, handler)
}
