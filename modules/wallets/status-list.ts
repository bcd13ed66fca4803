import { promisify } from 'node:util'
import { constants, deflate } from 'node:zlib'

// A Token Status List (draft-ietf-oauth-status-list), with two bits for each entry.

/** The statuses of the standard. */
export const STATUS = { valid: 0, invalid: 1, suspended: 2 } as const
export type Status = (typeof STATUS)[keyof typeof STATUS]

/** The number of entries of every list. Few are used, so that an index tells nothing. */
export const LIST_SIZE = 2 ** 20
const BITS = 2
const PER_BYTE = 8 / BITS

const compress = promisify(deflate)

/**
 * @param statuses The statuses by index; all others are valid.
 * @returns The claim `status_list`.
 */
export async function encodeStatusList(
  statuses: ReadonlyMap<number, Status>,
): Promise<{ bits: number; lst: string }> {
  const bytes = new Uint8Array(LIST_SIZE / PER_BYTE)
  for (const [index, status] of statuses) {
    const at = Math.floor(index / PER_BYTE)
    bytes[at] = (bytes[at] ?? 0) | (status << (BITS * (index % PER_BYTE)))
  }
  // Most bytes are zeros: run lengths are hardly longer than level 9, and take 2 ms instead of 360.
  const lst = await compress(bytes, { strategy: constants.Z_RLE })
  return { bits: BITS, lst: lst.toString('base64url') }
}

/** @returns The status that is less green. */
export function worse(one: Status, other: Status): Status {
  if (one === STATUS.invalid || other === STATUS.invalid) return STATUS.invalid
  return one === STATUS.valid ? other : one
}
