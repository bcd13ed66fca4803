import * as v from 'valibot'

/** A public key of P-256 as a JSON Web Key (RFC 7517), with the members that make its thumbprint. */
export type P256Key = { kty: 'EC'; crv: 'P-256'; x: string; y: string }

const COORDINATE = /^[\w-]{42}[AEIMQUYcgkosw048]$/

/** The members of a public key of P-256. Warning: the point need not be on the curve. */
export const p256Members = {
  kty: v.literal('EC', 'must be EC'),
  crv: v.literal('P-256', 'must be P-256'),
  x: v.pipe(v.string(), v.regex(COORDINATE, 'must be 32 bytes in base64url')),
  y: v.pipe(v.string(), v.regex(COORDINATE, 'must be 32 bytes in base64url')),
}
