import { ALPHABET as BASE58 } from './base58.ts'
import { FormatError } from './errors.ts'
import { fromHex, toHex } from './hex.ts'

/**
 * The digits that begin a CID: version 1, codec raw, hash function sha2-256, a digest of 32 bytes.
 */
const PREFIX = '1551220'
/** The number of hexadecimal digits of a CID, without the zero that it begins with. */
const LENGTH = PREFIX.length + 64

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'
/**
 * The digits of each base, behind its prefix. In base32 there are two bits more, and a first zero.
 */
const BASES = [
  { prefix: 'ba', alphabet: BASE32, spare: 2n },
  { prefix: 'k', alphabet: '0123456789abcdefghijklmnopqrstuvwxyz', spare: 0n },
  { prefix: 'z', alphabet: BASE58, spare: 0n },
]
/** Longer text is refused unread, because decoding is quadratic. */
const MAX_TEXT = 100

/**
 * @param hash A sha-256 digest, 32 bytes.
 * @returns The CIDv1 (raw, sha2-256) of the block with that digest, in base32.
 *
 * @example
 * ```ts
 * cidOf(decodePublicId(publicId).hash).slice(0, 7) // => 'bafkrei'
 * ```
 */
export function cidOf(hash: Uint8Array): string {
  const digits = (BigInt(`0x${PREFIX}${toHex(hash).slice(2)}`) << 2n).toString(32)
  return `ba${digits.replace(/./g, (digit) => BASE32.charAt(Number.parseInt(digit, 32)))}`
}

/**
 * @param cid A CIDv1 (raw, sha2-256) in base32, base36 or base58btc.
 * @returns Its sha-256 digest, 32 bytes.
 * @throws {FormatError} `cid_malformed` for text that is not a CID, and for one of another version,
 * codec or hash.
 *
 * @example
 * ```ts
 * const { hash } = decodePublicId(publicId)
 * toHex(hashOfCid(cidOf(hash))) === toHex(hash) // => true
 * ```
 */
export function hashOfCid(cid: string): Uint8Array {
  if (typeof cid !== 'string' || cid.length > MAX_TEXT) throw malformed('invalid CID')
  const base = BASES.find(({ prefix }) => cid.startsWith(prefix))
  if (!base) throw malformed('the CID must be in base32, base36 or base58btc')
  const text = cid.slice(base.prefix.length)
  const value = numberOf(text, base.alphabet)
  const hex = (value >> base.spare).toString(16)
  if (hex.length !== LENGTH || !hex.startsWith(PREFIX))
    throw malformed('the CID must be version 1, with the codec raw and the hash sha2-256')
  // Otherwise one CID would have several texts.
  if (text.startsWith(base.alphabet.charAt(0)) || value % (1n << base.spare) !== 0n)
    throw malformed('the CID is not in its canonical form')
  return fromHex(`0x${hex.slice(PREFIX.length)}`)
}

function numberOf(text: string, alphabet: string): bigint {
  let value = 0n
  for (const character of text) {
    const digit = alphabet.indexOf(character)
    if (digit < 0) throw malformed('invalid CID')
    value = value * BigInt(alphabet.length) + BigInt(digit)
  }
  return value
}

function malformed(message: string): FormatError {
  return new FormatError('cid_malformed', message)
}
