import type { Hex } from '../../../document/hex.ts'

/** A batch that the document is in. */
export type MadeBatch = {
  root: Hex
  size: number
  manifest: Hex
  /** The batch block of the document. */
  bytes: Uint8Array
  hash: Uint8Array
}

export type Made = {
  /** Sealed bytes. */
  bytes: Uint8Array
  hash: Uint8Array
  documentKey: Uint8Array
  /** What the document says of its expiry; 0 where it says nothing. */
  validUntil: number
  batch?: MadeBatch
  /** The file of a presentation, where the reader holds one. */
  presentation?: string
}
