import { timingSafeEqual } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { generateCookie, getCookie } from 'hono/cookie'
import { csrfTokenOf, type SignedIn } from '#people/sessions.ts'
import type { Env, SessionCookie } from './env.ts'
import { ApiError } from './errors.ts'

const COOKIE = 'docreg_session'
const SAFE_METHODS = ['GET', 'HEAD']

/**
 * @returns The name of the cookie. With `__Host-`, no other host can set it. Without https it has
 * the port, because cookies do not tell ports apart: two services on one machine would sign each
 * other's people out.
 */
export function cookieNameOf(baseUrl: string, cookie = COOKIE): string {
  if (isSecure(baseUrl)) return `__Host-${cookie}`
  const port = URL.parse(baseUrl)?.port
  return port ? `${cookie}_${port}` : cookie
}

/** Whether browsers reach the service by https. */
export const isSecure = (baseUrl: string) => baseUrl.startsWith('https:')

/** Lets `authorize` find sessions. */
export function knowSessions(cookie: SessionCookie): MiddlewareHandler<Env> {
  return (c, next) => {
    c.set('sessionCookie', cookie)
    return next()
  }
}

/** @returns The header that keeps a session in the browser; without a secret, that ends it. */
export function setCookieOf(baseUrl: string, secret: string | undefined): Record<string, string> {
  const cookie = generateCookie(cookieNameOf(baseUrl), secret ?? '', {
    path: '/',
    httpOnly: true,
    secure: isSecure(baseUrl),
    sameSite: 'Strict',
    ...(secret === undefined && { maxAge: 0 }),
  })
  return { 'Set-Cookie': cookie }
}

/** @returns Who is signed in by the cookie of a request. */
export async function findSession(c: Context): Promise<Env['Variables']['signedIn'] | undefined> {
  const { find, name }: SessionCookie = c.get('sessionCookie')
  const secret = c.req.header('cookie') && getCookie(c, name)
  const found: SignedIn | undefined = secret ? await find(secret) : undefined
  return found && secret ? { ...found, secret } : undefined
}

/**
 * Browsers send the cookie whoever makes the request, so a request that may change something must
 * come from a page of this service.
 *
 * @throws {ApiError} `csrf_token_required`
 */
export function assertSamePage(c: Context, secret: string): void {
  if (SAFE_METHODS.includes(c.req.method)) return
  assertSameOrigin(c)
  const sent = Buffer.from(c.req.header('x-csrf-token') ?? '')
  const token = Buffer.from(csrfTokenOf(secret))
  if (sent.length === token.length && timingSafeEqual(sent, token)) return
  throw new ApiError('csrf_token_required', 'X-CSRF-Token of this session is required')
}

/** @throws {ApiError} `csrf_token_required` */
export function assertSameOrigin(c: Context): void {
  const site = c.req.header('sec-fetch-site')
  if (site === undefined || site === 'same-origin') return
  throw new ApiError('csrf_token_required', 'the request comes from a page of another origin')
}
