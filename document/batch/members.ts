import * as v from 'valibot'
import type { Hex } from '../hex.ts'
import { REGISTRY_ID } from '../registry-id.ts'

// Members that batch block and manifest have in common.

/** 32 bytes in lower-case hexadecimal. */
export const bytes32 = v.custom<Hex>(
  (value) => typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value),
)

export const issuerId = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(1),
  v.maxValue(0xffff_ffff),
)

export const registry = v.pipe(v.string(), v.regex(REGISTRY_ID))
