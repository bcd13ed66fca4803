import { fromHex, type Hex, toHex } from '#document/hex.ts'

/** @returns Bytes for a column; NULL for an absent value. */
export function bytesOf(hex: Hex | null | undefined): Uint8Array | null {
  return hex === undefined || hex === null ? null : fromHex(hex)
}

/** @returns Bytes that are not NULL. */
export function hexOf(value: unknown): Hex {
  return toHex(value as Uint8Array)
}

export function hexOrNull(value: unknown): Hex | null {
  return value === null ? null : hexOf(value)
}

/** @returns An integer that may be NULL. */
export function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value)
}

/** @returns A text that may be NULL. */
export function textOrNull(value: unknown): string | null {
  return value === null ? null : String(value)
}

/** @returns A flag. */
export function isSet(value: unknown): boolean {
  return Boolean(value)
}
