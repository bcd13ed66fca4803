import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'

/** Bytes in lower-case hexadecimal with `0x` before them, as Ethereum's JSON-RPC writes them. */
export type Hex = `0x${string}`

export function toHex(bytes: Uint8Array): Hex {
  return `0x${bytesToHex(bytes)}`
}

/** @throws {Error} when it is not an even number of hexadecimal digits after `0x`. */
export function fromHex(hex: Hex): Uint8Array {
  return hexToBytes(hex.slice(2))
}
