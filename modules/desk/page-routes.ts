import * as v from 'valibot'
import { ApiError } from '#http/core/errors.ts'
import { operation, resource } from '#http/core/operation.ts'
import { createPackedHandler, createPageHandler } from '#http/pages/built-page.ts'
import type { DeskDeps } from './deps.ts'

const DESK_PAGE = operation({
  operationId: 'showDesk',
  route: 'GET /desk',
  tag: 'Public',
  summary: 'Show the desk, where people issue, find and revoke documents',
  description: 'A page that uses this API with the session of the person who has signed in.',
  scope: 'public',
  answer: { description: 'The page.', content: { 'text/html': null } },
})
const DESK_TEXTS = operation({
  operationId: 'retrieveDeskTexts',
  route: 'GET /desk/texts/:language',
  tag: 'Public',
  summary: 'Retrieve the texts of the desk in a language',
  description: 'For the page itself. Its form may change with every version.',
  parameters: { language: v.pipe(v.string(), v.examples(['de'])) },
  scope: 'public',
  answer: {
    description: 'The texts.',
    content: { 'application/json': v.record(v.string(), v.record(v.string(), v.string())) },
  },
  errors: ['not_found'],
})
const DESK_READER = operation({
  operationId: 'retrieveDeskReader',
  route: 'GET /desk/reader',
  tag: 'Public',
  summary: 'Retrieve what reads tables for the desk',
  description: 'A script for the page itself, which loads it with the first table.',
  scope: 'public',
  answer: { description: 'The script.', content: { 'text/javascript': null } },
})

/** Serves the desk. */
export const deskPageRoutes = resource<DeskDeps>(
  [DESK_PAGE, DESK_TEXTS, DESK_READER],
  (serve, { deskPage }) => {
    serve(DESK_PAGE, createPageHandler(deskPage, 'camera=()'))
    serve(
      DESK_READER,
      createPackedHandler(deskPage.reader, { 'Content-Type': 'text/javascript; charset=utf-8' }),
    )
    const handlers = new Map(
      Object.entries(deskPage.texts).map(([language, texts]) => [
        language,
        createPackedHandler(texts, { 'Content-Type': 'application/json' }),
      ]),
    )
    serve(DESK_TEXTS, (c) => {
      const handle = handlers.get(c.req.param('language'))
      if (handle === undefined)
        throw new ApiError('not_found', 'the desk does not have this language')
      return handle(c)
    })
  },
)
