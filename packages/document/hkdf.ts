import { expand, extract } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'

/**
 * HKDF-SHA256 (RFC 5869).
 *
 * @returns Its second step, which can be called with several infos and lengths.
 */
export type Hkdf = (
  key: Uint8Array,
  salt: Uint8Array,
) => (info: string, length: number) => Uint8Array

export const hkdf: Hkdf = (key, salt) => {
  const prk = extract(sha256, key, salt)
  return (info, length) => expand(sha256, prk, utf8ToBytes(info), length)
}
