import { timingSafeEqual } from 'node:crypto'
import type { Context } from 'hono'
import { getCookie } from 'hono/cookie'
import type { Authenticate } from '#http/core/env.ts'
import { ApiError } from '#http/core/errors.ts'
import { assertSameOrigin, cookieNameOf } from './cookies.ts'
import { csrfTokenOf, grantOf, type Sessions, type SignedIn } from './sessions.ts'

const SAFE_METHODS = ['GET', 'HEAD']

type WithSecret = SignedIn & { secret: string }

/** Accepts the cookie of a session, and tells the handlers who is signed in. */
export function bySession(baseUrl: string, find: Sessions['find']): Authenticate {
  const name = cookieNameOf(baseUrl)
  return async (c) => {
    const secret = c.req.header('cookie') && getCookie(c, name)
    const found = secret ? await find(secret) : undefined
    if (!found || !secret) return undefined
    assertSamePage(c, secret)
    const signedIn: WithSecret = { ...found, secret }
    c.set('authenticated', signedIn)
    return grantOf(found.person)
  }
}

/** @returns Who is signed in, in a handler of the scope `session`. */
export const signedInOf = (c: Context) => c.get('authenticated') as WithSecret

/**
 * Browsers send the cookie whoever makes the request, so a request that may change something must
 * come from a page of this service.
 *
 * @throws {ApiError} `csrf_token_required`
 */
function assertSamePage(c: Context, secret: string): void {
  if (SAFE_METHODS.includes(c.req.method)) return
  assertSameOrigin(c)
  const sent = Buffer.from(c.req.header('x-csrf-token') ?? '')
  const token = Buffer.from(csrfTokenOf(secret))
  if (sent.length === token.length && timingSafeEqual(sent, token)) return
  throw new ApiError('csrf_token_required', 'X-CSRF-Token of this session is required')
}
