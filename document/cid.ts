import { base32 } from 'multiformats/bases/base32'
import { base36 } from 'multiformats/bases/base36'
import { base58btc } from 'multiformats/bases/base58'
import { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import { create } from 'multiformats/hashes/digest'
import { FormatError } from './errors.ts'

const SHA2_256 = 0x12
const BASES = [base32, base36, base58btc] as const
const anyBase = base32.decoder.or(base36.decoder).or(base58btc.decoder)

/** @param hash A sha-256 digest, 32 bytes. @returns The CIDv1 (raw, sha2-256) of the block with that digest, in base32. */
export function cidOf(hash: Uint8Array): string {
  return CID.createV1(raw.code, create(SHA2_256, hash)).toString()
}

/**
 * @param cid A CIDv1 (raw, sha2-256) in base32, base36 or base58btc.
 * @returns Its sha-256 digest, 32 bytes.
 * @throws {FormatError} `cid_malformed` for text that is no CID, and for one of another version, codec or hash.
 */
export function hashOfCid(cid: string): Uint8Array {
  let parsed: CID
  try {
    if (cid.length > 100) throw new RangeError('too long for a CID')
    parsed = CID.parse(cid, anyBase)
  } catch (cause) {
    throw new FormatError('cid_malformed', 'not a CID', { cause })
  }
  const { version, code, multihash } = parsed
  const ours =
    version === 1 &&
    code === raw.code &&
    multihash.code === SHA2_256 &&
    multihash.digest.length === 32
  if (!ours)
    throw new FormatError('cid_malformed', 'not a CIDv1 of raw and sha2-256')
  // Made anew: a parsed CID remembers the text it came from. Else one CID would have several texts.
  const same = CID.createV1(raw.code, multihash)
  if (!BASES.some((base) => same.toString(base.encoder) === cid))
    throw new FormatError('cid_malformed', 'not the text of its CID')
  return multihash.digest
}
