import type { Hex } from '#document/hex.ts'

/** The batch of the document. */
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
  /** The expiry in the document; 0 if absent. */
  validUntil: number
  batch?: MadeBatch
  /** The presentation file or credential, if the reader has one. */
  presentation?: string
}
