import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { randomBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { uint32 } from './bytes.ts'
import { type Hkdf, hkdf } from './hkdf.ts'

/**
 * The keys derived from an issuer secret, 32 bytes each. The secret itself is then no longer
 * needed. `document` and `salt` seal documents. `index` is for the gateway, which uses it to blind
 * the values in its index of documents.
 */
export type IssuerSubkeys = { document: Uint8Array; salt: Uint8Array; index: Uint8Array }

/**
 * The values that seal one document: salt 16 bytes, documentKey 16 bytes (AES-128), iv 12 bytes.
 */
export type SealingKeys = {
  salt: Uint8Array
  documentKey: Uint8Array
  iv: Uint8Array
}

/** The values that identify the same request again. */
export type IdempotentRequest = {
  tenant: string
  idempotencyKey: string
  /** The number of the document in the request, from 0. */
  itemIndex: number
  /**
   * The exact bytes to be sealed. They are part of the salt, so that no two documents ever share a
   * key and an IV.
   */
  document: Uint8Array
}

/** HMAC-SHA256 (RFC 2104) of a message, with a key of at most 64 bytes; 32 bytes. */
export type Hmac = (key: Uint8Array, message: Uint8Array) => Uint8Array

const hmacPortable: Hmac = (key, message) => hmac(sha256, key, message)

const VERSION = 'document-registry/v1'
const NO_SALT = new Uint8Array(0)

/**
 * @param issuerSecret At least 32 random bytes. The keys come from HKDF-SHA256 (RFC 5869) with an
 * info for each use.
 *
 * @example
 * ```ts
 * const subkeys = deriveSubkeys(issuerSecret)
 * const keys = deriveSealingKeys(subkeys, randomSalt())
 * ```
 */
export function deriveSubkeys(issuerSecret: Uint8Array): IssuerSubkeys {
  if (issuerSecret.length < 32) throw new TypeError('an issuer secret must have at least 32 bytes')
  const derive = hkdf(issuerSecret, NO_SALT)
  return {
    document: derive(`${VERSION}/document-subkey`, 32),
    salt: derive(`${VERSION}/salt-subkey`, 32),
    index: derive(`${VERSION}/index-subkey`, 32),
  }
}

/**
 * @param issuerSecret At least 32 random bytes.
 * @returns 32 bytes that tell whether two secrets are the same. They open nothing, and no key can
 * be computed from them, because they come from HKDF with their own info.
 */
export function fingerprintOf(issuerSecret: Uint8Array): Uint8Array {
  return hkdf(issuerSecret, NO_SALT)(`${VERSION}/issuer-secret-fingerprint`, 32)
}

/**
 * @param issuerSecret At least 32 random bytes.
 * @param salt 32 random bytes.
 * @returns The signing secret of a webhook, 32 bytes.
 */
export function webhookSecretOf(issuerSecret: Uint8Array, salt: Uint8Array): Uint8Array {
  return hkdf(issuerSecret, salt)(`${VERSION}/webhook-secret`, 32)
}

/**
 * @param deriveFrom An implementation of HKDF; another one gives the same keys.
 * @returns The keys derived from a salt. With the issuer secret and the `kid` of sealed documents,
 * all publicIds can be recovered.
 *
 * @example
 * ```ts
 * const { salt } = readSealedHeader(sealed)
 * const { documentKey } = deriveSealingKeys(deriveSubkeys(issuerSecret), salt)
 * documentKey.length // => 16
 * ```
 */
export function deriveSealingKeys(
  subkeys: IssuerSubkeys,
  salt: Uint8Array,
  deriveFrom: Hkdf = hkdf,
): SealingKeys {
  const derive = deriveFrom(subkeys.document, salt)
  return {
    salt,
    documentKey: derive(`${VERSION}/document-key`, 16),
    iv: derive(`${VERSION}/iv`, 12),
  }
}

const SALT_LENGTH = 16
/**
 * The number of salts that are requested from the system at once, because a call takes as long for
 * one.
 */
const SALTS_PER_CALL = 64

/**
 * @returns 16 random bytes.
 *
 * @example
 * ```ts
 * randomSalt().length // => 16
 * ```
 */
export function randomSalt(): Uint8Array {
  return randomBytes(SALT_LENGTH)
}

/** @returns A source of {@link randomSalt} for a caller that needs many. */
export function createSaltSource(): () => Uint8Array {
  let pool = new Uint8Array(0)
  return () => {
    if (pool.length === 0) pool = randomBytes(SALT_LENGTH * SALTS_PER_CALL)
    const salt = pool.slice(0, SALT_LENGTH)
    pool = pool.subarray(SALT_LENGTH)
    return salt
  }
}

/**
 * @param hmacOf An implementation of HMAC; another one gives the same salt.
 * @returns The salt of a request with an idempotency key, 16 bytes. The same request has the same
 * salt on every gateway.
 *
 * @example
 * ```ts
 * const document = new TextEncoder().encode('{}')
 * const request = { tenant: 'default', idempotencyKey: 'order-4711', itemIndex: 0, document }
 * idempotentSalt(deriveSubkeys(issuerSecret), request).length // => 16
 * ```
 */
export function idempotentSalt(
  subkeys: IssuerSubkeys,
  request: IdempotentRequest,
  hmacOf: Hmac = hmacPortable,
): Uint8Array {
  const { tenant, idempotencyKey, itemIndex, document } = request
  const names = [VERSION, tenant, idempotencyKey].map(utf8ToBytes)
  const message = withLengths([...names, uint32(itemIndex), document])
  return hmacOf(subkeys.salt, message).subarray(0, SALT_LENGTH)
}

/** @returns Each part, preceded by its length in 4 bytes, big-endian. */
function withLengths(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + 4 + length, 0))
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const part of parts) {
    view.setUint32(at, part.length)
    bytes.set(part, at + 4)
    at += 4 + part.length
  }
  return bytes
}
