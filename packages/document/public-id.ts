import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes } from '@noble/hashes/utils.js'
import { decodeBase58, encodeBase58 } from './base58.ts'
import { equalBytes, uint32 } from './bytes.ts'
import { FormatError } from './errors.ts'

/**
 * The contents of a publicId. Warning: it contains a decryption key; never log or store one.
 *
 * - `single`: `hash` is the documentHash, 32 bytes.
 * - `batch`: `hash` is the sha-256 of the batch block, 32 bytes.
 */
export type PublicId = {
  kind: 'single' | 'batch'
  /** The issuer's number in the registry, 1 to 4294967295. */
  issuerId: number
  hash: Uint8Array
  /** The AES-128 key of the sealed document, 16 bytes. */
  documentKey: Uint8Array
}

const KINDS = { single: 1, batch: 2 } as const
const HASH_OFFSET = 1 + 4
const KEY_OFFSET = HASH_OFFSET + 32
const LENGTH = KEY_OFFSET + 16
/** The number of characters: base58 of 61 bytes, of which the first is 1 or 2. */
export const PUBLIC_ID_LENGTH = 77
const CHECKSUM_LENGTH = 4
/** Longer text is refused unread, because base58 decoding is quadratic. */
const MAX_TEXT = 80

const checksumOf = (body: Uint8Array) => sha256(body).subarray(0, CHECKSUM_LENGTH)

/**
 * @returns base58btc (without a multibase prefix) of kind ‖ issuerId ‖ hash ‖ documentKey ‖
 * checksum: 57 bytes, 77 characters.
 *
 * @example
 * ```ts
 * encodePublicId(decodePublicId(publicId)) === publicId // => true
 * ```
 */
export function encodePublicId(publicId: PublicId): string {
  const { kind, issuerId, hash, documentKey } = publicId
  if (hash.length !== 32 || documentKey.length !== 16)
    throw new TypeError('hash must have 32 bytes and documentKey 16 bytes')
  if (!Number.isInteger(issuerId) || issuerId < 1 || issuerId > 0xffff_ffff)
    throw new TypeError('issuerId must be from 1 to 4294967295')
  const body = concatBytes(Uint8Array.of(KINDS[kind]), uint32(issuerId), hash, documentKey)
  return encodeBase58(concatBytes(body, checksumOf(body)))
}

/**
 * @throws {FormatError} `public_id_malformed` (alphabet, length, issuerId 0), `public_id_checksum`
 * (mistyped), `public_id_kind`. No error contains the text, because it may be nearly a key.
 *
 * @example
 * ```ts
 * const { kind, issuerId, hash, documentKey } = decodePublicId(publicId)
 * kind // => 'single'
 * ```
 */
export function decodePublicId(text: string): PublicId {
  const bytes = isShort(text) ? decodeBase58(text) : undefined
  if (bytes?.length !== LENGTH + CHECKSUM_LENGTH)
    throw new FormatError('public_id_malformed', 'invalid publicId')
  const body = bytes.subarray(0, LENGTH)
  if (!equalBytes(checksumOf(body), bytes.subarray(LENGTH)))
    throw new FormatError(
      'public_id_checksum',
      'the publicId is mistyped: its checksum does not match',
    )
  const kind = body[0] === KINDS.single ? 'single' : 'batch'
  if (body[0] !== KINDS[kind])
    throw new FormatError('public_id_kind', 'the publicId is of an unknown kind')
  const issuerId = new DataView(body.buffer, body.byteOffset).getUint32(1)
  if (issuerId === 0) throw new FormatError('public_id_malformed', 'the publicId has no issuer')
  return {
    kind,
    issuerId,
    hash: body.slice(HASH_OFFSET, KEY_OFFSET),
    documentKey: body.slice(KEY_OFFSET),
  }
}

function isShort(text: string): boolean {
  return typeof text === 'string' && text.length <= MAX_TEXT
}
