import type { Hono } from 'hono'
import * as v from 'valibot'
import type { Env } from '../core/env.ts'
import { operation, servePublic } from '../core/operation.ts'
import { docsPage, type Reference } from '../pages/docs-page.ts'
import { type Markup, respondWithPage } from '../pages/page.ts'

const OPENAPI = operation({
  operationId: 'describeApi',
  method: 'get',
  path: '/openapi.json',
  tag: 'Service',
  summary: 'Retrieve this description as OpenAPI 3.1',
  scope: 'public',
  query: {},
  responses: {
    200: {
      description: 'The OpenAPI document.',
      content: {
        'application/json': v.objectWithRest({ openapi: v.literal('3.1.0') }, v.unknown()),
      },
    },
  },
  errors: [],
})

const DOCS = operation({
  operationId: 'showDocs',
  method: 'get',
  path: '/docs',
  tag: 'Service',
  summary: 'Show this description as a page',
  scope: 'public',
  query: {},
  responses: { 200: { description: 'The page.', content: { 'text/html': null } } },
  errors: [],
})
export const openapiOperations = [OPENAPI, DOCS]

/** @param describe Makes the OpenAPI document. It is called once for each kind of answer. */
export function openapiRoutes(app: Hono<Env>, describe: () => object): void {
  let text: string | undefined
  let main: Markup | undefined
  servePublic(app, OPENAPI, (c) => {
    text ??= JSON.stringify(describe())
    return c.body(text, 200, {
      'Cache-Control': 'no-cache',
      'Content-Type': 'application/json',
      'X-Content-Type-Options': 'nosniff',
    })
  })
  servePublic(app, DOCS, (c) => {
    main ??= docsPage(describe() as Reference)
    return respondWithPage(c, { title: 'REST API of document-registry', main })
  })
}
