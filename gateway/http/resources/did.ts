import type { Context } from 'hono'
import * as v from 'valibot'
import { ApiError } from '../core/errors.ts'
import { operation, resource } from '../core/operation.ts'

const DID_DOCUMENT = operation({
  operationId: 'retrieveDidDocument',
  route: 'GET /.well-known/did.json',
  tag: 'Public',
  summary: "Retrieve the issuer's DID document",
  description:
    "A did:web document that names the registry and the issuer, if this service is at the issuer's domain.",
  scope: 'public',
  anyOrigin: true,
  answer: {
    description: 'The DID document.',
    content: { 'application/json': v.objectWithRest({ id: v.string() }, v.unknown()) },
  },
  errors: ['not_found'],
})
/** Serves the documents of the issuer's domain (docs/formats.md §11). */
export const didRoutes = resource([DID_DOCUMENT], (serve, { didDocument }) => {
  serve(DID_DOCUMENT, (c) => {
    if (!didDocument) throw new ApiError('not_found', "this service is not at the issuer's domain")
    return respondWithJson(c, didDocument)
  })
})

/** Answers with a document of the issuer's domain. */
export function respondWithJson(c: Context, document: object): Response {
  return c.body(JSON.stringify(document), 200, {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-cache',
    'X-Content-Type-Options': 'nosniff',
  })
}
