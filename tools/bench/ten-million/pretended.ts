import type { Hex } from '#document/hex.ts'

// The blocks of rows that a script wrote. They are not on the chain, so their numbers are beyond
// those of its real blocks, and a document's hash ends with the index of its block.

/** The number of the first pretended block. */
export const FIRST_BLOCK = 1_000_000_000
/** Used in place of the index for a document in no block. */
export const NO_BLOCK = 0xffff_ffff
/** A `printf` format for a block number. */
export const BLOCK_HASH_FORMAT = '0x%064d'
/** The expiry of every document. */
export const EXPIRY = 4_102_444_800

/** @returns The block number of a document from its hash; 0 = in no block. */
export function blockOfDocument(documentHash: string, blocks: number): number {
  const index = Number.parseInt(documentHash.slice(-8), 16)
  return index < blocks ? FIRST_BLOCK + index : 0
}

export function blockHashOf(blockNumber: number): Hex {
  return `0x${String(blockNumber).padStart(64, '0')}`
}

/** When documents were promised, in seconds of the Unix epoch: ten million in a year. */
export const FIRST_SECOND = 1_700_000_000
export const SECONDS_APART = 3
