import { hash } from 'node:crypto'
import {
  calculateJwkThumbprint,
  importJWK,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose'
import * as v from 'valibot'
import { type P256Key, p256Members } from '#document/jwk.ts'
import { WalletError, type WalletErrorCode } from './errors.ts'

/** A public key in the header of a proof. A private key must not be sent to anybody. */
const publicKey = v.looseObject({ ...p256Members, d: v.optional(v.undefined()) })
/** The header names its key in one way alone. */
const header = v.looseObject({
  jwk: publicKey,
  kid: v.optional(v.undefined()),
  x5c: v.optional(v.undefined()),
})

const TIME = { algorithms: ['ES256'], maxTokenAge: 300, clockTolerance: 60 }

/**
 * Reads a proof that a wallet has a key.
 *
 * @param audience The credential issuer that it must name.
 * @returns The key, and the nonce that it was made with. Whether that is good is not checked.
 * @throws {WalletError} `invalid_proof`
 */
export async function readKeyProof(
  jwt: string,
  audience: string,
): Promise<{ holder: P256Key; nonce: string | undefined }> {
  const options = { ...TIME, typ: 'openid4vci-proof+jwt', audience }
  const { holder, payload } = await read(jwt, options, 'invalid_proof')
  const { nonce } = payload
  return { holder, nonce: typeof nonce === 'string' ? nonce : undefined }
}

/** What a DPoP proof must be for. */
export type DpopTarget = {
  method: string
  /** The address of the endpoint. */
  url: string
  /** The access token that is used with it; absent while there is none. */
  accessToken?: string
}

/**
 * Reads a DPoP proof (RFC 9449).
 *
 * @returns The thumbprint of its key, and its id. Whether that was used before is not checked.
 * @throws {WalletError} `invalid_dpop_proof`
 */
export async function readDpopProof(
  jwt: string,
  { method, url, accessToken }: DpopTarget,
): Promise<{ jkt: string; jti: string }> {
  const { holder, payload } = await read(jwt, { ...TIME, typ: 'dpop+jwt' }, 'invalid_dpop_proof')
  const { htm, htu, ath, jti } = payload
  const wanted = accessToken === undefined ? ath : hash('sha256', accessToken, 'base64url')
  if (htm !== method || pathOf(htu) !== pathOf(url) || ath !== wanted || typeof jti !== 'string')
    throw new WalletError('invalid_dpop_proof', 'the DPoP proof is for another request')
  return { jkt: await calculateJwkThumbprint(holder), jti }
}

/** @returns An address without query and fragment. */
function pathOf(htu: unknown): string | undefined {
  const url = typeof htu === 'string' ? URL.parse(htu) : null
  return url ? `${url.origin}${url.pathname}` : undefined
}

async function read(
  jwt: string,
  options: JWTVerifyOptions,
  code: WalletErrorCode,
): Promise<{ holder: P256Key; payload: JWTPayload }> {
  let holder: P256Key | undefined
  try {
    const { payload } = await jwtVerify(
      jwt,
      (sent) => {
        const { kty, crv, x, y } = v.parse(header, sent).jwk
        holder = { kty, crv, x, y }
        return importJWK(holder, 'ES256')
      },
      options,
    )
    return { holder: holder as P256Key, payload }
  } catch (cause) {
    throw new WalletError(code, 'the proof is not a valid JWT of a P-256 key in its header', cause)
  }
}
