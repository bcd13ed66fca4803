import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Hono } from 'hono'
import type { Env } from '../core/env.ts'
import { PRIVATE } from '../core/envelope.ts'
import { operation, servePublic } from '../core/operation.ts'
import type { VerifyPage } from '../pages/verify-page.ts'

export type VerifyPageDeps = { verifyPage: VerifyPage }

const VERIFY_PAGE = operation({
  operationId: 'showVerifyPage',
  method: 'get',
  path: '/verify',
  tag: 'Public',
  summary: 'Show the page to which QR codes lead',
  description:
    "The reader's browser makes every check. It reads the publicId from the fragment, which is not sent to any server.",
  scope: 'public',
  query: {},
  responses: { 200: { description: 'The page.', content: { 'text/html': null } } },
  errors: [],
})
export const verifyPageOperations = [VERIFY_PAGE]

/** Serves the page for readers of a QR code. */
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

  servePublic(app, VERIFY_PAGE, async (c) => {
    if (!/\bgzip\b/.test(c.req.header('accept-encoding') ?? '')) return c.body(html, 200, headers)
    packed ??= promisify(gzip)(html)
    return c.body(new Uint8Array(await packed), 200, {
      ...headers,
      'Content-Encoding': 'gzip',
    })
  })
}
