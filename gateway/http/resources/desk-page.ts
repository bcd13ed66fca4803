import type { Hono } from 'hono'
import type { Env } from '../core/env.ts'
import { operation, servePublic } from '../core/operation.ts'
import { type BuiltPage, createPageHandler } from '../pages/built-page.ts'

export type DeskPageDeps = { deskPage: BuiltPage }

const DESK_PAGE = operation({
  operationId: 'showDesk',
  method: 'get',
  path: '/desk',
  tag: 'Public',
  summary: 'Show the desk, where people issue, find and revoke documents',
  description: 'A page that uses this API with the session of the person who has signed in.',
  scope: 'public',
  query: {},
  responses: { 200: { description: 'The page.', content: { 'text/html': null } } },
  errors: [],
})
export const deskPageOperations = [DESK_PAGE]

/** Serves the desk. */
export function deskPageRoutes(app: Hono<Env>, { deskPage }: DeskPageDeps): void {
  servePublic(app, DESK_PAGE, createPageHandler(deskPage, 'camera=()'))
}
