import { concatBytes } from '@noble/hashes/utils.js'
import { base32 } from 'multiformats/bases/base32'
import { base36 } from 'multiformats/bases/base36'
import { base58btc } from 'multiformats/bases/base58'
import { equalBytes } from './bytes.ts'
import { FormatError } from './errors.ts'

/** The prefix of a CID: version 1, codec raw, hash function sha2-256, a digest of 32 bytes. */
const PREFIX = Uint8Array.of(0x01, 0x55, 0x12, 0x20)
const LENGTH = PREFIX.length + 32
const BASES = [base32, base36, base58btc] as const
/** Longer text is refused unread, because base58 decoding is quadratic. */
const MAX_TEXT = 100

/**
 * @param hash A sha-256 digest, 32 bytes.
 * @returns The CIDv1 (raw, sha2-256) of the block with that digest, in base32.
 */
export function cidOf(hash: Uint8Array): string {
  return base32.encode(concatBytes(PREFIX, hash))
}

/**
 * @param cid A CIDv1 (raw, sha2-256) in base32, base36 or base58btc.
 * @returns Its sha-256 digest, 32 bytes.
 * @throws {FormatError} `cid_malformed` for text that is not a CID, and for one of another version,
 * codec or hash.
 */
export function hashOfCid(cid: string): Uint8Array {
  if (typeof cid !== 'string' || cid.length > MAX_TEXT) throw malformed('invalid CID')
  const base = BASES.find(({ prefix }) => cid.startsWith(prefix))
  if (!base) throw malformed('the CID must be in base32, base36 or base58btc')
  const bytes = decode(base, cid)
  const prefix = bytes.subarray(0, PREFIX.length)
  if (bytes.length !== LENGTH || !equalBytes(prefix, PREFIX))
    throw malformed('the CID must be version 1, with the codec raw and the hash sha2-256')
  // Otherwise one CID would have several texts.
  if (base.encode(bytes) !== cid) throw malformed('the CID is not in its canonical form')
  return bytes.slice(PREFIX.length)
}

function decode(base: (typeof BASES)[number], cid: string): Uint8Array {
  try {
    return base.decode(cid)
  } catch (cause) {
    throw malformed('invalid CID', cause)
  }
}

function malformed(message: string, cause?: unknown): FormatError {
  return new FormatError('cid_malformed', message, { cause })
}
