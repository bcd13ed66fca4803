import * as v from 'valibot'
import type { Hex } from './hex.ts'
import { REGISTRY_ID } from './registry-id.ts'

// Members that documents, claims, batch blocks and manifests have in common.

/** 32 bytes in lower-case hexadecimal. */
export const bytes32 = v.custom<Hex>(
  (value) => typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value),
  'must be 0x and 64 lower-case hexadecimal digits',
)

export const registry = v.pipe(
  v.string(),
  v.regex(REGISTRY_ID, 'must be a CAIP-10 account of eip155 in lower case'),
)

export const issuerId = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(1),
  v.maxValue(0xffff_ffff),
)
