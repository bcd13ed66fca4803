import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Hono } from 'hono'
import type { Env } from '../env.ts'
import { PRIVATE } from '../envelope.ts'
import type { VerifyPage } from '../verify-page.ts'

export type VerifyPageDeps = { verifyPage: VerifyPage }

/** GET /verify: the page that QR codes lead to. The reader's browser makes every check. */
export function verifyPageRoutes(
  app: Hono<Env>,
  { verifyPage: { html, policy } }: VerifyPageDeps,
): void {
  const headers = {
    ...PRIVATE,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    'Permissions-Policy': 'camera=(self), geolocation=(), microphone=()',
    'Cross-Origin-Opener-Policy': 'same-origin',
    Vary: 'Accept-Encoding',
  }
  let packed: Promise<Buffer> | undefined

  app.get('/verify', async (c) => {
    if (!/\bgzip\b/.test(c.req.header('accept-encoding') ?? '')) return c.body(html, 200, headers)
    packed ??= promisify(gzip)(html)
    return c.body(new Uint8Array(await packed), 200, {
      ...headers,
      'Content-Encoding': 'gzip',
    })
  })
}
