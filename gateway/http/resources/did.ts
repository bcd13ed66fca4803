import type { Hono } from 'hono'
import * as v from 'valibot'
import { allowAnyOrigin } from '../core/cors.ts'
import type { Env } from '../core/env.ts'
import { ApiError } from '../core/errors.ts'
import { operation, servePublic } from '../core/operation.ts'

export type DidDeps = {
  /** The issuer's DID document; absent when this service is not at the issuer's domain. */
  didDocument?: object
}

const DID_DOCUMENT = operation({
  operationId: 'retrieveDidDocument',
  method: 'get',
  path: '/.well-known/did.json',
  tag: 'Public',
  summary: "Retrieve the issuer's DID document",
  description:
    "A did:web document that names the registry and the issuer, if this service is at the issuer's domain.",
  scope: 'public',
  query: {},
  responses: {
    200: {
      description: 'The DID document.',
      content: { 'application/json': v.objectWithRest({ id: v.string() }, v.unknown()) },
    },
  },
  errors: ['not_found'],
})
export const didOperations = [DID_DOCUMENT]

/** Serves the DID document of the issuer's domain (docs/formats.md §11). */
export function didRoutes(app: Hono<Env>, { didDocument }: DidDeps): void {
  allowAnyOrigin(app, DID_DOCUMENT.path, ['GET', 'HEAD'])
  servePublic(app, DID_DOCUMENT, (c) => {
    if (!didDocument) throw new ApiError('not_found', "this service is not at the issuer's domain")
    return c.body(JSON.stringify(didDocument), 200, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
    })
  })
}
