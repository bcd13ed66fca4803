import type { Hono } from 'hono'
import type { Env } from '../core/env.ts'
import { operation, servePublic } from '../core/operation.ts'
import { type BuiltPage, createPageHandler } from '../pages/built-page.ts'

export type VerifyPageDeps = { verifyPage: BuiltPage }

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
export function verifyPageRoutes(app: Hono<Env>, { verifyPage }: VerifyPageDeps): void {
  servePublic(app, VERIFY_PAGE, createPageHandler(verifyPage, 'camera=(self)'))
}
