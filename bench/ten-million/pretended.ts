import type { Hex } from '../../document/hex.ts'

// The blocks of rows that a script has written. The chain does not have them, so their numbers are
// beyond those of any block that it makes, and a document's hash ends in the index of its block.

/** The number of the first one. */
export const FIRST_BLOCK = 1_000_000_000
/** In place of an index: in none of them. */
export const NO_BLOCK = 0xffff_ffff
/** For `printf`, with a block's number. */
export const BLOCK_HASH_FORMAT = '0x%064d'
/** Of every document. */
export const EXPIRY = 4_102_444_800

/** @returns The number of the block that a document is in, by its hash; 0 = in none. */
export function blockOfDocument(documentHash: Hex, blocks: number): number {
  const index = Number.parseInt(documentHash.slice(-8), 16)
  return index < blocks ? FIRST_BLOCK + index : 0
}

export function blockHashOf(blockNumber: number): Hex {
  return `0x${String(blockNumber).padStart(64, '0')}`
}
