import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import { CompactSign, calculateJwkThumbprint } from 'jose'

/** The public half of a key that signs credentials, as it is published. */
export type PublishedKey = {
  kty: 'EC'
  crv: 'P-256'
  x: string
  y: string
  /** The thumbprint of RFC 7638. */
  kid: string
  alg: 'ES256'
  use: 'sig'
}

/** The keys with which the issuer signs credentials and status lists. */
export type CredentialKeys = {
  /** The keys to publish. The first one signs; the others signed before. */
  published: readonly [PublishedKey, ...PublishedKey[]]
  /** The chain of certificates of the first key, in base64; absent = there is none. */
  x5c?: readonly string[]
  /**
   * @param header The header without `alg`.
   * @returns A JWS in compact form, signed with ES256.
   */
  sign(header: { typ: string } & Record<string, unknown>, payload: object): Promise<string>
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g

/**
 * Reads PEM text: the private key that signs, its certificates if it has any, and older keys,
 * private or public.
 *
 * @throws {Error} that says what is wrong with the text, and quotes nothing of it.
 */
export async function readCredentialKeys(pem: string): Promise<CredentialKeys> {
  const blocks = [...pem.matchAll(BLOCK)].map(([text, label = '']) => ({ text, label }))
  const [first, ...older] = blocks.filter(({ label }) => label.endsWith(' KEY')).map(keyOf)
  if (first?.type !== 'private') throw new Error('must begin with a private key in PEM')
  const certificates = blocks.filter(({ label }) => label === 'CERTIFICATE').map(certificateOf)
  if (certificates[0] && !certificates[0].checkPrivateKey(first))
    throw new Error('has a certificate that is not of the first key')
  return {
    published: [await publishedOf(first), ...(await Promise.all(older.map(publishedOf)))],
    ...(certificates.length > 0 && { x5c: certificates.map(({ raw }) => raw.toString('base64')) }),
    sign: (header, payload) =>
      new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
        .setProtectedHeader({ ...header, alg: 'ES256' })
        .sign(first),
  }
}

function keyOf({ text, label }: { text: string; label: string }): KeyObject {
  try {
    return label === 'PUBLIC KEY' ? createPublicKey(text) : createPrivateKey(text)
  } catch {
    throw new Error('has a key that cannot be read')
  }
}

function certificateOf({ text }: { text: string }): X509Certificate {
  try {
    return new X509Certificate(text)
  } catch {
    throw new Error('has a certificate that cannot be read')
  }
}

async function publishedOf(key: KeyObject): Promise<PublishedKey> {
  const { kty, crv, x, y } = key.export({ format: 'jwk' })
  if (kty !== 'EC' || crv !== 'P-256' || !x || !y) throw new Error('has a key that is not P-256')
  const kid = await calculateJwkThumbprint({ kty, crv, x, y })
  return { kty, crv, x, y, kid, alg: 'ES256', use: 'sig' }
}
