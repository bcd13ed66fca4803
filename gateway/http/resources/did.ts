import type { Context, Hono } from 'hono'
import * as v from 'valibot'
import { allowAnyOrigin } from '../core/cors.ts'
import type { Env } from '../core/env.ts'
import { ApiError } from '../core/errors.ts'
import { operation, servePublic } from '../core/operation.ts'

export type DidDeps = {
  /** The issuer's DID document; absent when this service is not at the issuer's domain. */
  didDocument?: object
  /** The keys of the issuer of credentials; absent when this service signs none. */
  jwtVcIssuer?: object
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
const JWT_VC_ISSUER = operation({
  operationId: 'retrieveCredentialKeys',
  method: 'get',
  path: '/.well-known/jwt-vc-issuer',
  tag: 'Public',
  summary: 'Retrieve the keys that sign credentials',
  description:
    "The metadata of the issuer of SD-JWT VCs. Wallets read it at the issuer's domain: if this service is not there, serve a copy.",
  scope: 'public',
  query: {},
  responses: {
    200: {
      description: 'The metadata.',
      content: {
        'application/json': v.object({
          issuer: v.string(),
          jwks: v.object({ keys: v.array(v.record(v.string(), v.string())) }),
        }),
      },
    },
  },
  errors: ['not_found'],
})
export const didOperations = [DID_DOCUMENT, JWT_VC_ISSUER]

/** Serves the documents of the issuer's domain (docs/formats.md §11). */
export function didRoutes(app: Hono<Env>, { didDocument, jwtVcIssuer }: DidDeps): void {
  for (const { path } of didOperations) allowAnyOrigin(app, path, ['GET', 'HEAD'])
  servePublic(app, DID_DOCUMENT, (c) => {
    if (!didDocument) throw new ApiError('not_found', "this service is not at the issuer's domain")
    return respondWithJson(c, didDocument)
  })
  servePublic(app, JWT_VC_ISSUER, (c) => {
    if (!jwtVcIssuer) throw new ApiError('not_found', 'this service signs no credentials')
    return respondWithJson(c, jwtVcIssuer)
  })
}

function respondWithJson(c: Context, document: object): Response {
  return c.body(JSON.stringify(document), 200, {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-cache',
    'X-Content-Type-Options': 'nosniff',
  })
}
