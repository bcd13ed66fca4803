import type { MiddlewareHandler } from 'hono'
import type { Env } from './env.ts'

/**
 * Responses can contain a publicId, which is a decryption key, so no cache may store them and no
 * page may pass the address on. An answer with a `Cache-Control` of its own says that it has none.
 */
export const PRIVATE = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const

/** Sets the headers that every answer has, whoever made it: a route, a failure or a stream. */
export function answerHeaders(): MiddlewareHandler<Env> {
  return async (c, next) => {
    await next()
    const { headers } = c.res
    const common = {
      'X-Request-Id': c.get('requestId'),
      ...c.get('rateLimitFields'),
      ...(!headers.has('Cache-Control') && PRIVATE),
    }
    for (const [name, value] of Object.entries(common)) headers.set(name, value)
  }
}
