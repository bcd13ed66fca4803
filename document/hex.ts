import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { FormatError } from './errors.ts'

/** Bytes in lower-case hexadecimal with `0x` before them, as Ethereum's JSON-RPC writes them. */
export type Hex = `0x${string}`

export function toHex(bytes: Uint8Array): Hex {
  return `0x${bytesToHex(bytes)}`
}

/**
 * @param hex Upper-case digits are accepted.
 * @throws {FormatError} `hex_malformed` when it is not an even number of hexadecimal digits after `0x`.
 */
export function fromHex(hex: Hex): Uint8Array {
  const good =
    typeof hex === 'string' &&
    /^0x[0-9a-f]*$/i.test(hex) &&
    hex.length % 2 === 0
  if (!good) throw new FormatError('hex_malformed', 'not hexadecimal')
  return hexToBytes(hex.slice(2))
}
