import type { CredentialKeys } from '#parts/credential-keys.ts'
import { type IdentityAddress, uriOf } from '#verifier/identity.ts'

/** @returns The metadata at `/.well-known/jwt-vc-issuer` of the issuer's domain. */
export function jwtVcIssuerOf(own: IdentityAddress, { published }: CredentialKeys): object {
  return { issuer: uriOf(own), jwks: { keys: published } }
}
