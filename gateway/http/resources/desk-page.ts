import * as v from 'valibot'
import { ApiError } from '../core/errors.ts'
import { operation, resource } from '../core/operation.ts'
import { createPackedHandler, createPageHandler } from '../pages/built-page.ts'

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

/** Serves the desk. */
export const deskPageRoutes = resource([DESK_PAGE, DESK_TEXTS], (serve, { deskPage }) => {
  serve(DESK_PAGE, createPageHandler(deskPage, 'camera=()'))
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
})
