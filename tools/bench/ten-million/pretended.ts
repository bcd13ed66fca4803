import type { Hex } from '#document/hex.ts'

// The blocks of rows that a script wrote. The chain does not have them, so their numbers are beyond
// those of its real blocks, and a document's hash ends in the index of its block.

/** The number of the first pretended block. */
export const FIRST_BLOCK = 1_000_000_000
/** Replaces the index: in no block. */
export const NO_BLOCK = 0xffff_ffff
/** A `printf` format for a block number. */
export const BLOCK_HASH_FORMAT = '0x%064d'
/** The expiry of every document. */
export const EXPIRY = 4_102_444_800

/** @returns The block number of a document, from its hash; 0 = in no block. */
export function blockOfDocument(documentHash: string, blocks: number): number {
  const index = Number.parseInt(documentHash.slice(-8), 16)
  return index < blocks ? FIRST_BLOCK + index : 0
}

export function blockHashOf(blockNumber: number): Hex {
  return `0x${String(blockNumber).padStart(64, '0')}`
}

/** When documents were promised: ten million in a year. Seconds of the Unix epoch. */
export const FIRST_SECOND = 1_700_000_000
export const SECONDS_APART = 3
