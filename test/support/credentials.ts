import { createHmac } from 'node:crypto'
import { p256 } from '@noble/curves/p256'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { encodeBase64url } from '#document/base64url.ts'
import { toCanonical } from '#document/canonical.ts'
import type { P256Key } from '#document/jwk.ts'
import type { Presentation } from '#document/presentation.ts'

/** A key of P-256 that is the same in every run, and so are its signatures (RFC 6979). */
export type TestKey = { secret: Uint8Array; jwk: P256Key; kid: string }

export function testKey(seed: string): TestKey {
  const secret = sha256(utf8ToBytes(seed))
  const point = p256.getPublicKey(secret, false)
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map(encodeBase64url) as [
    string,
    string,
  ]
  const jwk: P256Key = { kty: 'EC', crv: 'P-256', x, y }
  return { secret, jwk, kid: encodeBase64url(sha256(toCanonical(jwk))) }
}

export const ISSUER_KEY = testKey('issuer')
export const HOLDER_KEY = testKey('holder')
const KEYS = { issuer: ISSUER_KEY, holder: HOLDER_KEY, stranger: testKey('stranger') }

/** Who signs; `hmac` is HS256 with the issuer's public key as its secret. */
export type Signer = keyof typeof KEYS | 'hmac' | 'nobody'

/** What differs from a good JWS. A member of `null` is left out. */
export type JwsParts = {
  header?: object | undefined
  payload?: object | undefined
  by?: Signer | undefined
}

/** What differs from a good credential. */
export type CredentialParts = JwsParts & {
  /** The proof of the holder's key; absent = there is none. */
  holder?: JwsParts | undefined
}

/** The domain of the issuer, unless `iss` is another. */
const ISS = 'https://testville.example'
/** The day of issue. */
const IAT = Date.UTC(2026, 5, 30) / 1000

/** @param presentation What the credential shows. */
export function credentialOf(
  { documentHash, claims, batch, disclosures }: Presentation,
  { holder, header, payload, by = 'issuer' }: CredentialParts = {},
): string {
  const jwt = signJws(
    over({ alg: 'ES256', typ: 'dc+sd-jwt', kid: ISSUER_KEY.kid }, header),
    over(
      {
        ...claims,
        documentHash,
        batch,
        iss: ISS,
        iat: IAT,
        vct: 'https://testville.example/v1/types/birth_certificate',
        cnf: { jwk: HOLDER_KEY.jwk },
        status: { status_list: { idx: 7, uri: 'https://testville.example/v1/status-lists/1' } },
      },
      batch === null ? { batch: null, ...payload } : payload,
    ),
    by,
  )
  const shown = [jwt, ...disclosures, ''].join('~')
  return holder === undefined ? shown : shown + bindingOf(shown, holder)
}

/** @param shown The credential with its last tilde. */
export function bindingOf(shown: string, { header, payload, by = 'holder' }: JwsParts): string {
  const said = {
    iat: IAT,
    aud: 'https://verifier.example',
    nonce: 'a-nonce',
    sd_hash: encodeBase64url(sha256(utf8ToBytes(shown))),
  }
  return signJws(over({ alg: 'ES256', typ: 'kb+jwt' }, header), over(said, payload), by)
}

/** Replaces members; `null` leaves one out. */
function over(good: object, changed: object = {}): object {
  const all = Object.entries({ ...good, ...changed })
  return Object.fromEntries(all.filter(([, value]) => value !== null))
}

export function signJws(header: object, payload: object, by: Signer): string {
  const parts = [header, payload].map((part) => encodeBase64url(utf8ToBytes(JSON.stringify(part))))
  const signed = parts.join('.')
  return `${signed}.${encodeBase64url(signatureOf(utf8ToBytes(signed), by))}`
}

function signatureOf(data: Uint8Array, by: Signer): Uint8Array {
  if (by === 'nobody') return new Uint8Array()
  if (by === 'hmac')
    return createHmac('sha256', JSON.stringify(ISSUER_KEY.jwk)).update(data).digest()
  return p256.sign(sha256(data), KEYS[by].secret).toCompactRawBytes()
}

/** @returns The DID document of a domain that vouches for an issuer and signs with these keys. */
export function didWithKeys(
  { registry, issuerId }: Pick<Presentation, 'registry' | 'issuerId'>,
  {
    did = 'did:web:testville.example',
    keys = [ISSUER_KEY],
  }: { did?: string; keys?: TestKey[] } = {},
): object {
  const methods = keys.map(({ jwk, kid }) => ({
    id: `${did}#${kid}`,
    type: 'JsonWebKey',
    controller: did,
    publicKeyJwk: jwk,
  }))
  return {
    id: did,
    verificationMethod: methods,
    assertionMethod: methods.map(({ id }) => id),
    service: [
      {
        id: `${did}#document-registry`,
        type: 'DocumentRegistry',
        serviceEndpoint: [{ registry, issuerId }],
      },
    ],
  }
}
