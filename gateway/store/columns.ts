import { fromHex, type Hex, toHex } from '#document/hex.ts'

/** @returns Bytes for a `bytea`; NULL for what is absent. */
export function bytesOf(hex: Hex | null | undefined): Uint8Array | null {
  return hex === undefined || hex === null ? null : fromHex(hex)
}

/** @returns A `bytea` that is not NULL. */
export function hexOf(value: unknown): Hex {
  return toHex(value as Uint8Array)
}

export function hexOrNull(value: unknown): Hex | null {
  return value === null ? null : hexOf(value)
}
