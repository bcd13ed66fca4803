import { sha256 } from '@noble/hashes/sha2.js'
import { CompactEncrypt, compactDecrypt, errors } from 'jose'
import { decodeBase64url, encodeBase64url } from './base64url.ts'
import { decodeUtf8 } from './bytes.ts'
import { FormatError, refusingAs } from './errors.ts'
import { type JsonValue, parseStrictJson } from './json.ts'
import type { SealingKeys } from './keys.ts'

/** A sealed document: its JWE bytes and their sha-256, 32 bytes, the key of its record and the digest of its CID. */
export type Sealed = { bytes: Uint8Array; documentHash: Uint8Array }

/** What {@link seal} does; another implementation gives the same bytes. */
export type Seal = (
  document: Uint8Array,
  keys: SealingKeys,
) => Sealed | Promise<Sealed>

const BLOCK = 256
const SPACE = 0x20
const SALT_LENGTH = 16
const HEADER_NAMES = ['alg', 'enc', 'kid', 'typ', 'v']
const encoder = new TextEncoder()

/**
 * Seals the bytes of a document: padded with spaces to the next multiple of 256, then JWE compact (RFC 7516) with
 * `dir` and A128GCM (RFC 7518). The same bytes and keys give the same sealed bytes.
 *
 * @param document RFC 8785 bytes.
 * @param keys Used for these bytes only: the IV is derived, so one pair of key and IV must never see two plaintexts.
 */
export async function seal(
  document: Uint8Array,
  keys: SealingKeys,
): Promise<Sealed> {
  const jwe = await new CompactEncrypt(pad(document))
    .setProtectedHeader(headerOf(encodeBase64url(keys.salt)))
    .setInitializationVector(keys.iv)
    .encrypt(keys.documentKey)
  const bytes = encoder.encode(jwe)
  return { bytes, documentHash: sha256(bytes) }
}

/**
 * Opens sealed bytes. The header is read and checked before the key is used, so `wrong_key` is said only of a well-formed
 * JWE that does not open.
 *
 * @param sealed JWE compact, ASCII.
 * @param documentKey 16 bytes.
 * @returns The RFC 8785 bytes of the document, the padding taken off.
 * @throws {FormatError} `sealed_malformed`, `sealed_header`, `wrong_key`, `sealed_padding`.
 */
export async function open(
  sealed: Uint8Array,
  documentKey: Uint8Array,
): Promise<Uint8Array> {
  const { jwe } = readJwe(sealed)
  try {
    const { plaintext } = await compactDecrypt(jwe, documentKey, {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A128GCM'],
    })
    return unpad(plaintext)
  } catch (cause) {
    if (cause instanceof errors.JWEDecryptionFailed)
      throw new FormatError('wrong_key', 'the key does not open it', { cause })
    if (cause instanceof errors.JOSEError)
      throw new FormatError('sealed_malformed', 'not a JWE', { cause })
    throw cause
  }
}

/** @returns The salt (16 bytes) that a sealed document's key was derived from. Errors as {@link open}, before the key. */
export function saltOf(sealed: Uint8Array): Uint8Array {
  return readJwe(sealed).salt
}

function readJwe(sealed: Uint8Array): { jwe: string; salt: Uint8Array } {
  const { jwe, header } = refusingAs(
    'sealed_malformed',
    'not a compact JWE',
    () => readParts(sealed),
  )
  const salt = refusingAs(
    'sealed_header',
    'not the header of a sealed document',
    () => readHeader(header),
  )
  return { jwe, salt }
}

function readParts(sealed: Uint8Array): { jwe: string; header: JsonValue } {
  const jwe = decodeUtf8(sealed)
  const parts = jwe.split('.')
  if (parts.length !== 5) throw malformed('not five parts')
  const [header, ...others] = parts.map(decodeBase64url)
  const lengths = others.map(({ length }) => length)
  const [encryptedKey, iv, , tag] = lengths
  if (!header || encryptedKey !== 0 || iv !== 12 || tag !== 16)
    throw malformed('not the parts of a dir JWE')
  return { jwe, header: parseStrictJson(decodeUtf8(header)) }
}

/** @returns The salt in it. */
function readHeader(header: JsonValue): Uint8Array {
  const names = isObject(header) ? header : {}
  const { alg, enc, kid, typ, v } = names
  const ours =
    alg === 'dir' &&
    enc === 'A128GCM' &&
    typ === 'document+jwe' &&
    v === 1 &&
    Object.keys(names).every((name) => HEADER_NAMES.includes(name))
  if (!ours || typeof kid !== 'string') throw malformed('another header')
  const salt = decodeBase64url(kid)
  if (salt.length !== SALT_LENGTH) throw malformed('not a salt')
  return salt
}

function malformed(message: string): FormatError {
  return new FormatError('sealed_malformed', message)
}

function isObject(value: JsonValue): value is { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @param kid The salt in base64url. @returns The header of a sealed document; its serialisation is this order's. */
export function headerOf(kid: string) {
  return { alg: 'dir', enc: 'A128GCM', kid, typ: 'document+jwe', v: 1 }
}

/** @returns The bytes with spaces after them, up to the next multiple of 256. */
export function pad(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil(bytes.length / BLOCK) * BLOCK)
  padded.fill(SPACE)
  padded.set(bytes)
  return padded
}

function unpad(padded: Uint8Array): Uint8Array {
  let end = padded.length
  while (end > 0 && padded[end - 1] === SPACE) end--
  const canonical =
    padded.length === Math.ceil(end / BLOCK) * BLOCK && padded.length > 0
  if (!canonical)
    throw new FormatError('sealed_padding', 'not padded to the next 256 bytes')
  return padded.subarray(0, end)
}
