import type { Hex } from '#document/hex.ts'
import type { BlockId } from './anchoring.ts'
import type { Intent } from './intent.ts'

/** A signed transaction. Every broadcast sends the same bytes, `raw`. */
export type SignedTransaction = {
  nonce: number
  hash: Hex
  raw: Hex
  gasLimit: bigint
  /** Wei per unit of gas. */
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

/** A nonce, its intents, and every transaction signed for it, the newest last. */
export type Plan = {
  id: number
  /** The address of the account, in lower case. */
  account: Hex
  nonce: number
  intents: readonly Intent[]
  attempts: readonly SignedTransaction[]
  /** For suspensions and releases, the newest block when it was planned. */
  head?: number
}

/** The receipt of a transaction. */
export type Receipt = BlockId & {
  /** Whether the call to the registry succeeded. */
  succeeded: boolean
  /** The documents and the roots of batches that it issued. */
  issued: ReadonlySet<Hex>
  /** The records that it revoked, suspended or released, with the reason code that each has now. */
  revised: ReadonlyMap<Hex, number>
  /** The cost in wei; `undefined` when the node does not report it. */
  fee?: bigint
}
