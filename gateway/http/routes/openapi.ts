import type { Hono } from 'hono'
import * as v from 'valibot'
import type { Env } from '../env.ts'
import { operation, servePublic } from '../operation.ts'

const OPENAPI = operation({
  operationId: 'describeApi',
  method: 'get',
  path: '/openapi.json',
  tag: 'Service',
  summary: 'This description, as OpenAPI 3.1',
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
export const openapiOperations = [OPENAPI]

/** @param describe Makes the OpenAPI document; asked once, for the first request. */
export function openapiRoutes(app: Hono<Env>, describe: () => object): void {
  let text: string | undefined
  servePublic(app, OPENAPI, (c) => {
    text ??= JSON.stringify(describe())
    return c.body(text, 200, {
      'Cache-Control': 'no-cache',
      'Content-Type': 'application/json',
      'X-Content-Type-Options': 'nosniff',
    })
  })
}
