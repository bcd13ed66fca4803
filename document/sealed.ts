import { sha256 } from '@noble/hashes/sha2.js'
import { base64url, CompactEncrypt, compactDecrypt, errors } from 'jose'
import { FormatError } from './errors.ts'
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
const HEADER_NAMES = ['alg', 'enc', 'kid', 'typ', 'v']
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

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
    .setProtectedHeader(headerOf(base64url.encode(keys.salt)))
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
  const jwe = readJwe(sealed)
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
  const [header = ''] = readJwe(sealed).split('.')
  return base64url.decode(
    JSON.parse(decoder.decode(base64url.decode(header))).kid,
  )
}

function readJwe(sealed: Uint8Array): string {
  let header: JsonValue
  let jwe: string
  try {
    jwe = decoder.decode(sealed)
    const parts = jwe.split('.')
    const [protectedHeader = '', encryptedKey, iv = '', , tag = ''] = parts
    const shaped =
      parts.length === 5 &&
      parts.every((part) => isBase64url(part)) &&
      encryptedKey === '' &&
      base64url.decode(iv).length === 12 &&
      base64url.decode(tag).length === 16
    if (!shaped) throw new SyntaxError('not five parts of a dir JWE')
    header = parseStrictJson(decoder.decode(base64url.decode(protectedHeader)))
  } catch (cause) {
    throw new FormatError('sealed_malformed', 'not a compact JWE', { cause })
  }
  const names = isObject(header) ? header : {}
  const { alg, enc, kid, typ, v } = names
  const ours =
    alg === 'dir' &&
    enc === 'A128GCM' &&
    typ === 'document+jwe' &&
    v === 1 &&
    typeof kid === 'string' &&
    isBase64url(kid) &&
    base64url.decode(kid).length === 16 &&
    Object.keys(names).every((name) => HEADER_NAMES.includes(name))
  if (!ours)
    throw new FormatError(
      'sealed_header',
      'not the header of a sealed document',
    )
  return jwe
}

function isObject(value: JsonValue): value is { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether it is the one base64url text (RFC 4648 §5, no padding) of its bytes: else a hash would have several texts. */
function isBase64url(text: string): boolean {
  return (
    /^[A-Za-z0-9_-]*$/.test(text) &&
    base64url.encode(base64url.decode(text)) === text
  )
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
