import * as v from 'valibot'
import { ApiError } from '#http/core/errors.ts'
import { operation, resource } from '#http/core/operation.ts'
import { respondWithJson } from '#http/resources/did.ts'
import type { WalletDeps } from './deps.ts'

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

/** Serves the keys of the issuer of credentials. */
export const issuerRoutes = resource<WalletDeps>([JWT_VC_ISSUER], (serve, { jwtVcIssuer }) => {
  serve(JWT_VC_ISSUER, (c) => {
    if (!jwtVcIssuer) throw new ApiError('not_found', 'this service signs no credentials')
    return respondWithJson(c, jwtVcIssuer)
  })
})
