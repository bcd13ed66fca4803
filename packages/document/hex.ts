import { bytesToHex } from '@noble/hashes/utils.js'
import { FormatError } from './errors.ts'

/** Bytes in lower-case hexadecimal with the prefix `0x`, as in Ethereum's JSON-RPC. */
export type Hex = `0x${string}`

/**
 * @example
 * ```ts
 * toHex(new Uint8Array([42])) // => '0x2a'
 * ```
 */
export function toHex(bytes: Uint8Array): Hex {
  return `0x${bytesToHex(bytes)}`
}

/**
 * @param hex Upper-case digits are accepted.
 * @throws {FormatError} `hex_malformed` when it is not an even number of hexadecimal digits after
 * `0x`.
 *
 * @example
 * ```ts
 * fromHex('0x2a')[0] // => 42
 * ```
 */
export function fromHex(hex: Hex): Uint8Array {
  const hasForm = typeof hex === 'string' && hex.startsWith('0x') && hex.length % 2 === 0
  if (!hasForm) throw malformed()
  const bytes = new Uint8Array(hex.length / 2 - 1)
  for (let i = 0; i < bytes.length; i++)
    bytes[i] = (digitAt(hex, 2 * i + 2) << 4) | digitAt(hex, 2 * i + 3)
  return bytes
}

const malformed = () => new FormatError('hex_malformed', 'not hexadecimal')

/** The value of each digit by its character code. */
const DIGITS = new Map(
  [...'0123456789abcdefABCDEF'].map((digit) => [digit.charCodeAt(0), Number.parseInt(digit, 16)]),
)
const VALUES = Uint8Array.from({ length: 128 }, (_, code) => DIGITS.get(code) ?? 16)

function digitAt(hex: string, index: number): number {
  const value = VALUES[hex.charCodeAt(index)] ?? 16
  if (value > 15) throw malformed()
  return value
}
