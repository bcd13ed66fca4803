import type { Hex } from '#document/hex.ts'
import type { BlockId } from './anchoring.ts'
import type { Intent } from './intent.ts'

/** A signed transaction: `raw` is broadcast, every time the same bytes. */
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
  nonce: number
  intents: readonly Intent[]
  attempts: readonly SignedTransaction[]
  /** The newest block when it was planned; of suspensions and releases only. */
  head?: number
}

/** The receipt of a transaction. */
export type Receipt = BlockId & {
  /** Whether the call of the registry succeeded. */
  succeeded: boolean
  /** The documents that it issued, and the roots of batches. */
  issued: ReadonlySet<Hex>
  /** What it revoked, suspended and released, with the reason code that each record got. */
  revised: ReadonlyMap<Hex, number>
  /** Its cost in wei; `undefined` when the node does not report it. */
  fee?: bigint
}
