import type { Hono } from 'hono'
import * as v from 'valibot'
import type { Env } from '../core/env.ts'
import { ApiError } from '../core/errors.ts'
import { operation, servePublic } from '../core/operation.ts'
import { createPackedHandler, createPageHandler } from '../pages/built-page.ts'
import type { DeskPage } from '../pages/desk-page.ts'

export type DeskPageDeps = { deskPage: DeskPage }

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
const DESK_TEXTS = operation({
  operationId: 'retrieveDeskTexts',
  method: 'get',
  path: '/desk/texts/:language',
  tag: 'Public',
  summary: 'Retrieve the texts of the desk in a language',
  description: 'For the page itself. Its form may change with every version.',
  parameters: { language: v.pipe(v.string(), v.examples(['de'])) },
  scope: 'public',
  query: {},
  responses: {
    200: {
      description: 'The texts.',
      content: { 'application/json': v.record(v.string(), v.record(v.string(), v.string())) },
    },
  },
  errors: ['not_found'],
})
export const deskPageOperations = [DESK_PAGE, DESK_TEXTS]

/** Serves the desk. */
export function deskPageRoutes(app: Hono<Env>, { deskPage }: DeskPageDeps): void {
  servePublic(app, DESK_PAGE, createPageHandler(deskPage, 'camera=()'))
  const handlers = new Map(
    Object.entries(deskPage.texts).map(([language, texts]) => [
      language,
      createPackedHandler(texts, { 'Content-Type': 'application/json' }),
    ]),
  )
  servePublic(app, DESK_TEXTS, (c) => {
    const handle = handlers.get(c.req.param('language'))
    if (handle === undefined)
      throw new ApiError('not_found', 'the desk does not have this language')
    return handle(c)
  })
}
