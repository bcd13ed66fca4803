import type { Context } from 'hono'
import { generateCookie } from 'hono/cookie'
import { ApiError } from '#http/core/errors.ts'

const COOKIE = 'docreg_session'

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

/** @throws {ApiError} `csrf_token_required` */
export function assertSameOrigin(c: Context): void {
  const site = c.req.header('sec-fetch-site')
  if (site === undefined || site === 'same-origin') return
  throw new ApiError('csrf_token_required', 'the request comes from a page of another origin')
}
