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
const JWT_VC_ISSUER = operation({
  operationId: 'retrieveCredentialKeys',
  route: 'GET /.well-known/jwt-vc-issuer',
  tag: 'Public',
  summary: 'Retrieve the keys that sign credentials',
  description:
    "The metadata of the issuer of SD-JWT VCs. Wallets read it at the issuer's domain: if this service is not there, serve a copy.",
  scope: 'public',
  anyOrigin: true,
  answer: {
    description: 'The metadata.',
    content: {
      'application/json': v.object({
        issuer: v.string(),
        jwks: v.object({ keys: v.array(v.record(v.string(), v.string())) }),
      }),
    },
  },
  errors: ['not_found'],
})

const OPERATIONS = [DID_DOCUMENT, JWT_VC_ISSUER]

/** Serves the documents of the issuer's domain (docs/formats.md §11). */
export const didRoutes = resource(OPERATIONS, (serve, { didDocument, jwtVcIssuer }) => {
  serve(DID_DOCUMENT, (c) => {
    if (!didDocument) throw new ApiError('not_found', "this service is not at the issuer's domain")
    return respondWithJson(c, didDocument)
  })
  serve(JWT_VC_ISSUER, (c) => {
    if (!jwtVcIssuer) throw new ApiError('not_found', 'this service signs no credentials')
    return respondWithJson(c, jwtVcIssuer)
  })
})

function respondWithJson(c: Context, document: object): Response {
  return c.body(JSON.stringify(document), 200, {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-cache',
    'X-Content-Type-Options': 'nosniff',
  })
}
