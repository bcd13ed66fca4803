import * as v from 'valibot'
import { operation, resource } from '../core/operation.ts'
import type { AppDeps } from '../deps.ts'
import { docsPage, type Reference } from '../pages/docs-page.ts'
import { type Markup, respondWithPage } from '../pages/page.ts'

const OPENAPI = operation({
  operationId: 'describeApi',
  route: 'GET /openapi.json',
  tag: 'Service',
  summary: 'Retrieve this description as OpenAPI 3.1',
  description: 'For generators of clients. A line of NDJSON is described as `x-itemSchema`.',
  scope: 'public',
  answer: {
    description: 'The OpenAPI document.',
    content: {
      'application/json': v.objectWithRest({ openapi: v.literal('3.1.0') }, v.unknown()),
    },
  },
})

const DOCS = operation({
  operationId: 'showDocs',
  route: 'GET /docs',
  tag: 'Service',
  summary: 'Show this description as a page',
  description: 'The reference of all operations and error codes.',
  scope: 'public',
  answer: { description: 'The page.', content: { 'text/html': null } },
})
/** What the routes say about all that this service serves. */
type Described = Pick<AppDeps, 'addresses' | 'version'> & {
  /** Makes the OpenAPI document. It is called once for each kind of answer. */
  describe(service: { baseUrl: string; version: string }): object
}

export const openapiRoutes = resource<Described>(
  [OPENAPI, DOCS],
  (serve, { addresses: { baseUrl }, version, describe }) => {
    let text: string | undefined
    let main: Markup | undefined
    serve(OPENAPI, (c) => {
      text ??= JSON.stringify(describe({ baseUrl, version }))
      return c.body(text, 200, {
        'Cache-Control': 'no-cache',
        'Content-Type': 'application/json',
        'X-Content-Type-Options': 'nosniff',
      })
    })
    serve(DOCS, (c) => {
      main ??= docsPage(describe({ baseUrl, version }) as Reference)
      return respondWithPage(c, { title: 'REST API of document-registry', main })
    })
  },
)
