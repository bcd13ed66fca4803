import { sha256 } from '@noble/hashes/sha2.js'
import * as v from 'valibot'
import { decodeBase64url, encodeBase64url } from '../../document/base64url.ts'
import { encodeUtf8 } from '../../document/bytes.ts'
import { type Credential, parseJws } from '../../document/credential.ts'
import { FormatError } from '../../document/errors.ts'
import type { P256Key } from '../../document/jwk.ts'
import { parseRegistryId, type RegistryId } from '../../document/registry-id.ts'
import { type IdentityAddress, identityAddressOf, uriOf } from '../identity.ts'
import type { ChainReading, RegistryIssuer } from '../ports.ts'
import type { Check } from '../verdict.ts'
import type { Identity } from './identity.ts'

export type CredentialCheckOptions = {
  /** The CAIP-10 account ID of the registry to trust. */
  registry: RegistryId
  /** The audience that the holder's key must have signed. */
  audience?: string | undefined
  /** The nonce that it must have signed. */
  nonce?: string | undefined
  /** Unix seconds. */
  now: number
  /** Called with an error of this program. */
  onError?: ((error: unknown) => void) | undefined
}

/** Clocks of phones may be ahead by this much. */
const CLOCK_SKEW_SECONDS = 300

/**
 * Checks who signed a credential: the issuer, by a key of the domain that vouches for it, and the
 * holder, by the key in the credential.
 *
 * @param identity The answer of the issuer's domain.
 * @returns The check `credential`. A failure of this program is unknown, and reported.
 */
export async function checkCredential(
  credential: Credential,
  identity: Identity,
  { record, issuer }: ChainReading,
  options: CredentialCheckOptions,
): Promise<Check> {
  const { outcome, code } = identity.check
  if (outcome === 'unknown') return { check: 'credential', outcome, code }
  try {
    const objection =
      (await objectionToIssuer(credential, identity, addressOf(issuer, options))) ??
      ((credential.exp ?? 0) === record.validUntil ? undefined : 'other_expiry') ??
      (await objectionToHolder(credential, options))
    if (objection) return { check: 'credential', outcome: 'fail', code: objection }
    return {
      check: 'credential',
      outcome: 'pass',
      code: credential.keyBinding ? 'holder' : 'no_holder',
    }
  } catch (error) {
    options.onError?.(error)
    return { check: 'credential', outcome: 'unknown', code: 'internal_error' }
  }
}

function addressOf({ uri }: RegistryIssuer, { registry }: CredentialCheckOptions) {
  return identityAddressOf(uri, parseRegistryId(registry).chainId)
}

/** @returns Why the issuer did not sign it, or `undefined`. */
async function objectionToIssuer(
  { issuerJwt, kid, iss }: Credential,
  { domain, keys }: Identity,
  address: IdentityAddress | undefined,
): Promise<string | undefined> {
  // The domain does not vouch for the issuer.
  if (domain === null || !address) return 'unknown_key'
  const { did } = address
  if (iss !== did && iss !== uriOf(address)) return 'wrong_iss'
  // With certificates in place of a kid, any listed key may have signed.
  const named = keys.filter(({ id }) => kid === undefined || id === kid || id === `${did}#${kid}`)
  if (named.length === 0) return 'unknown_key'
  for (const { jwk } of named) if (await isSignedBy(jwk, issuerJwt)) return undefined
  return 'signature_invalid'
}

const ES256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** @param jws Its header has been checked. */
async function isSignedBy(jwk: P256Key, jws: string): Promise<boolean> {
  const { subtle } = crypto
  const end = jws.lastIndexOf('.')
  // A point that is not on the curve is refused.
  const key = await subtle.importKey('jwk', jwk, ES256, false, ['verify']).catch(() => undefined)
  if (!key) return false
  const signature = new Uint8Array(decodeBase64url(jws.slice(end + 1)))
  return subtle.verify(ES256, key, signature, encodeUtf8(jws.slice(0, end)))
}

const text = v.string()
const bindingHeader = v.object({
  alg: v.literal('ES256'),
  typ: v.literal('kb+jwt'),
  // RFC 7515 §4.1.11: an extension that this reader does not know.
  crit: v.optional(v.never()),
})
const bindingPayload = v.object({ iat: v.number(), aud: text, nonce: text, sd_hash: text })

/** @returns Why the holder did not sign it, or `undefined`. */
async function objectionToHolder(
  { keyBinding, holderKey }: Credential,
  { audience, nonce, now }: CredentialCheckOptions,
): Promise<string | undefined> {
  if (!keyBinding)
    return audience === undefined && nonce === undefined ? undefined : 'holder_missing'
  const { jwt, covers } = keyBinding
  const said = readBinding(jwt)
  const isGood =
    said !== undefined &&
    said.sd_hash === encodeBase64url(sha256(encodeUtf8(covers))) &&
    said.iat <= now + CLOCK_SKEW_SECONDS &&
    (audience ?? said.aud) === said.aud &&
    (nonce ?? said.nonce) === said.nonce &&
    (await isSignedBy(holderKey, jwt))
  return isGood ? undefined : 'holder_invalid'
}

/** @returns `undefined` for a malformed one. */
function readBinding(jwt: string): v.InferOutput<typeof bindingPayload> | undefined {
  try {
    const { header, payload } = parseJws(jwt)
    const read = v.safeParse(bindingPayload, payload)
    return v.is(bindingHeader, header) && read.success ? read.output : undefined
  } catch (error) {
    if (error instanceof FormatError) return undefined
    throw error
  }
}
