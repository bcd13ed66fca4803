import { bytesToHex } from '@noble/hashes/utils.js'
import { FormatError } from './errors.ts'

/** Bytes in lower-case hexadecimal with the prefix `0x`, as in Ethereum's JSON-RPC. */
export type Hex = `0x${string}`

export function toHex(bytes: Uint8Array): Hex {
  return `0x${bytesToHex(bytes)}`
}

/**
 * @param hex Upper-case digits are accepted.
 * @throws {FormatError} `hex_malformed` when it is not an even number of hexadecimal digits after
 * `0x`.
 */
export function fromHex(hex: Hex): Uint8Array {
  const good = typeof hex === 'string' && /^0x[0-9a-f]*$/i.test(hex) && hex.length % 2 === 0
  if (!good) throw new FormatError('hex_malformed', 'invalid hexadecimal')
  const bytes = new Uint8Array(hex.length / 2 - 1)
  for (let i = 0; i < bytes.length; i++)
    bytes[i] = (digitAt(hex, 2 * i + 2) << 4) | digitAt(hex, 2 * i + 3)
  return bytes
}

/** @returns A value from 0 to 15. Letters of both cases have bit 6 set, digits do not. */
function digitAt(hex: string, index: number): number {
  const code = hex.charCodeAt(index)
  return (code & 15) + (code >> 6) * 9
}
