import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes } from '@noble/hashes/utils.js'
import { CompactEncrypt } from 'jose'
import { decodeBase64url, encodeBase64url } from './base64url.ts'
import { decodeUtf8, encodeUtf8 } from './bytes.ts'
import { disclose, type Primitives } from './disclosures.ts'
import { type Document, decodeDocument, encodeDocument } from './document.ts'
import { FormatError, refusingAs } from './errors.ts'
import { isObject, type JsonValue, parseStrictJson } from './json.ts'
import type { SealingKeys } from './keys.ts'

/**
 * A sealed document: its JWE bytes and their sha-256 (32 bytes), which is the key of its record and
 * the digest of its CID.
 */
export type Sealed = { bytes: Uint8Array; documentHash: Uint8Array }

/** The two members of the header that differ between documents. */
export type SealedHeader = {
  /** `kid`, 16 bytes: the salt from which the keys were derived. */
  salt: Uint8Array
  /** base64url of the sha-256 of the document's claims (disclosures.ts). */
  sd: string
}

/** The plaintext and the header that commits to it; {@link decodeOpened} compares them. */
export type Opened = SealedHeader & { plaintext: Uint8Array }

/**
 * The type of {@link seal}; another implementation must give the same bytes.
 *
 * @param encoded The RFC 8785 bytes of the document, if they are known.
 */
export type Seal = (
  document: Document,
  keys: SealingKeys,
  encoded?: Uint8Array,
) => Sealed | Promise<Sealed>

/** The parts of a JWE that A128GCM decrypts. */
type Encrypted = {
  /** The ASCII bytes of the first part. */
  additionalData: Uint8Array
  /** 12 bytes. */
  iv: Uint8Array
  /** The ciphertext, followed by the tag of 16 bytes. */
  data: Uint8Array
}

/** @throws {FormatError} `wrong_key` when the key, 16 bytes, does not open it. */
export type Decrypt = (
  encrypted: Encrypted,
  documentKey: Uint8Array,
) => Uint8Array | Promise<Uint8Array>

type Decode = (text: string) => Uint8Array

/** The functions that open a JWE. A faster implementation must give the same results. */
type OpenPrimitives = {
  decrypt: Decrypt
  /** Decodes text that has been checked; absent = the library's decoder is used. */
  decodeBase64url?: Decode
}

/**
 * The type of {@link open} and {@link decodeOpened}; another implementation must give the same
 * results.
 */
export type Opener = {
  /** @returns 32 bytes. */
  sha256: (bytes: Uint8Array) => Uint8Array
  open: (sealed: Uint8Array, documentKey: Uint8Array) => Opened | Promise<Opened>
  decodeOpened: (opened: Opened, documentKey: Uint8Array) => Document
}

const BLOCK = 256
const SPACE = 0x20
const SALT_LENGTH = 16
const SD_LENGTH = 32
const HEADER_NAMES = ['alg', 'enc', 'kid', 'sd', 'typ', 'v']

/**
 * Seals a document: its RFC 8785 bytes are padded with spaces to the next multiple of 256, and
 * encrypted as compact JWE (RFC 7516) with `dir` and A128GCM (RFC 7518). The same document and keys
 * give the same sealed bytes.
 *
 * @param keys Keys for this document only. The IV is derived, so one pair of key and IV must never
 * encrypt two plaintexts.
 *
 * @example
 * ```ts
 * const document = await openDocument(sealed, decodePublicId(publicId).documentKey)
 * const keys = deriveSealingKeys(deriveSubkeys(issuerSecret), randomSalt())
 * const { bytes, documentHash } = await seal(document, keys)
 * const again = encodePublicId({ kind: 'single', issuerId: 1, hash: documentHash, ...keys })
 * ```
 */
export function seal(
  document: Document,
  keys: SealingKeys,
  encoded: Uint8Array = encodeDocument(document),
): Promise<Sealed> {
  const { sd } = disclose(document, keys)
  return sealPlaintext(encoded, sd, keys)
}

/** Same as {@link seal} for any bytes and any `sd`, for tests of bytes that must not open. */
export async function sealPlaintext(
  plaintext: Uint8Array,
  sd: string,
  { salt, documentKey, iv }: SealingKeys,
): Promise<Sealed> {
  const jwe = await new CompactEncrypt(pad(plaintext))
    .setProtectedHeader(headerOf({ salt, sd }))
    .setInitializationVector(iv)
    .encrypt(documentKey)
  const bytes = encodeUtf8(jwe)
  return { bytes, documentHash: sha256(bytes) }
}

/**
 * Opens sealed bytes and reads the document in them.
 *
 * @throws {FormatError} with a code of {@link open} or {@link decodeOpened}.
 *
 * @example
 * ```ts
 * const { subjectName } = await openDocument(sealed, decodePublicId(publicId).documentKey)
 * subjectName // => 'Ada Lovelace'
 * ```
 */
export async function openDocument(sealed: Uint8Array, documentKey: Uint8Array): Promise<Document> {
  return decodeOpened(await open(sealed, documentKey), documentKey)
}

/**
 * Opens sealed bytes. The header is read and checked before the key is used, so `wrong_key` means
 * that a well-formed JWE does not open.
 *
 * @param sealed Compact JWE in ASCII.
 * @param documentKey 16 bytes.
 * @returns The plaintext without its padding, not yet checked: pass it to {@link decodeOpened}.
 * @throws {FormatError} `sealed_malformed`, `sealed_header`, `wrong_key`, `sealed_padding`.
 *
 * @example
 * ```ts
 * const { plaintext } = await open(sealed, decodePublicId(publicId).documentKey)
 * ```
 */
export async function open(
  sealed: Uint8Array,
  documentKey: Uint8Array,
  { decrypt, decodeBase64url }: OpenPrimitives = { decrypt: decryptWithWebCrypto },
): Promise<Opened> {
  const { encrypted, ...header } = readJwe(sealed, decodeBase64url)
  const plaintext = await decrypt(encrypted, documentKey)
  return { ...header, plaintext: unpad(plaintext) }
}

/**
 * A JWE library supports any algorithm, which is most of its code, while a header here allows only
 * one.
 */
const decryptWithWebCrypto: Decrypt = async ({ additionalData, iv, data }, documentKey) => {
  const subtle = globalThis.crypto?.subtle
  if (!subtle)
    throw new Error('WebCrypto is missing: Node 20.19 or newer has it, and pages over HTTPS')
  const own = (bytes: Uint8Array) => new Uint8Array(bytes)
  const name = 'AES-GCM'
  const key = await subtle.importKey('raw', own(documentKey), name, false, ['decrypt'])
  const algorithm = {
    name,
    tagLength: 128,
    iv: own(iv),
    additionalData: own(additionalData),
  }
  try {
    return new Uint8Array(await subtle.decrypt(algorithm, key, own(data)))
  } catch (cause) {
    throw new FormatError('wrong_key', 'the key does not open the sealed document', { cause })
  }
}

/**
 * @param documentKey The key that opened it.
 * @throws {FormatError} with a code of {@link decodeDocument}; `other_disclosures` when the header
 * was not made for this document and key. AES-GCM alone does not commit to a plaintext, so the same
 * bytes could open to another document with another key.
 *
 * @example
 * ```ts
 * const { documentKey } = decodePublicId(publicId)
 * const opened = await open(sealed, documentKey)
 * decodeOpened(opened, documentKey).subjectName // => 'Ada Lovelace'
 * ```
 */
export function decodeOpened(
  { plaintext, salt, sd }: Opened,
  documentKey: Uint8Array,
  primitives?: Primitives,
): Document {
  const document = decodeDocument(plaintext)
  if (disclose(document, { documentKey, salt }, primitives).sd !== sd)
    throw new FormatError('other_disclosures', 'sd does not match the document')
  return document
}

/**
 * @returns The header of sealed bytes, read without a key.
 * @throws {FormatError} as {@link open}, before the key is used.
 *
 * @example
 * ```ts
 * const { salt, sd } = readSealedHeader(sealed)
 * ```
 */
export function readSealedHeader(sealed: Uint8Array): SealedHeader {
  const { salt, sd } = readJwe(sealed)
  return { salt, sd }
}

function readJwe(sealed: Uint8Array, decode?: Decode): SealedHeader & { encrypted: Encrypted } {
  const { encrypted, header } = refusingAs('sealed_malformed', 'invalid compact JWE', () =>
    readParts(sealed, decode),
  )
  const known = refusingAs('sealed_header', 'invalid header of a sealed document', () =>
    readHeader(header),
  )
  return { encrypted, ...known }
}

function readParts(
  sealed: Uint8Array,
  decode?: Decode,
): { encrypted: Encrypted; header: JsonValue } {
  const parts = decodeUtf8(sealed).split('.')
  if (parts.length !== 5) throw malformed('a compact JWE must have five parts')
  const [header, encryptedKey, iv, ciphertext, tag] = parts.map((part) =>
    decodeBase64url(part, decode),
  )
  const ours = encryptedKey?.length === 0 && iv?.length === 12 && tag?.length === 16
  if (!ours || !header || !ciphertext) throw malformed('the JWE does not use direct encryption')
  return {
    encrypted: {
      additionalData: encodeUtf8(parts[0] ?? ''),
      iv,
      data: concatBytes(ciphertext, tag),
    },
    header: parseStrictJson(decodeUtf8(header)),
  }
}

function readHeader(header: JsonValue): SealedHeader {
  const names = isObject(header) ? header : {}
  const { alg, enc, kid, sd, typ, v } = names
  const ours =
    alg === 'dir' &&
    enc === 'A128GCM' &&
    typ === 'document+jwe' &&
    v === 1 &&
    Object.keys(names).every((name) => HEADER_NAMES.includes(name))
  if (!ours || typeof kid !== 'string' || typeof sd !== 'string')
    throw malformed('unexpected header')
  const salt = decodeBase64url(kid)
  if (salt.length !== SALT_LENGTH) throw malformed('invalid salt')
  if (decodeBase64url(sd).length !== SD_LENGTH) throw malformed('invalid digest')
  return { salt, sd }
}

function malformed(message: string): FormatError {
  return new FormatError('sealed_malformed', message)
}

/** @returns The header of a sealed document. It is serialized in this order. */
export function headerOf({ salt, sd }: SealedHeader) {
  const kid = encodeBase64url(salt)
  return { alg: 'dir', enc: 'A128GCM', kid, sd, typ: 'document+jwe', v: 1 }
}

/** @returns The bytes, padded with spaces to the next multiple of 256. */
export function pad(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil(bytes.length / BLOCK) * BLOCK)
  padded.fill(SPACE)
  padded.set(bytes)
  return padded
}

function unpad(padded: Uint8Array): Uint8Array {
  let end = padded.length
  while (end > 0 && padded[end - 1] === SPACE) end--
  const canonical = padded.length === Math.ceil(end / BLOCK) * BLOCK && padded.length > 0
  if (!canonical)
    throw new FormatError(
      'sealed_padding',
      'the plaintext is not padded to a multiple of 256 bytes',
    )
  return padded.subarray(0, end)
}
