import * as v from 'valibot'
import type { FieldProblem } from './errors.ts'
import type { Hex } from './hex.ts'
import { isRegistryId, type RegistryId } from './registry-id.ts'

// Members that several formats share.

/** 32 bytes in lower-case hexadecimal. */
export const bytes32 = v.custom<Hex>(
  (value) => typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value),
  'must be 0x followed by 64 lower-case hexadecimal digits',
)

export const registry = v.custom<RegistryId>(
  isRegistryId,
  'must be a lower-case CAIP-10 account ID, eip155:<chainId>:<address>',
)

/** @returns The message for a member that is missing, has another type, or is unknown. */
export function describeMember({ expected, input }: v.StrictObjectIssue) {
  if (expected === 'never') return 'is an unknown member'
  return input === undefined ? 'is required' : 'must be an object'
}

/** @returns The bad fields that valibot found, with their paths. */
export function problemsOf(issues: readonly v.BaseIssue<unknown>[]): FieldProblem[] {
  return issues.map((issue) => ({
    field: v.getDotPath(issue) ?? '',
    message: issue.message,
  }))
}

export const issuerId = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(0xffff_ffff))

/**
 * Matches a letter, digit, punctuation mark or symbol, which a reader can see. Unicode counts some
 * blanks as such: the Hangul fillers as letters, the empty Braille pattern as a symbol.
 */
export const VISIBLE = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u
