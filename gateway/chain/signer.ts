import type { TransactionLike } from 'ethers'
import type { Hex } from '#document/hex.ts'

/**
 * An EIP-1559 transaction without a signature. Every field is set, so that the signer fills in
 * nothing.
 */
export type UnsignedTransaction = {
  type: 2
  chainId: number
  nonce: number
  to: Hex
  data: Hex
  gasLimit: bigint
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
} & TransactionLike

/** Signs for one account. */
export type Signer = {
  /** The account's address, with its checksum. */
  readonly address: string
  /** Rejects with an `IssueError` `signer_unavailable` when the signer cannot sign now. */
  assertReady(): Promise<void>
  /**
   * @returns The signed bytes of exactly this transaction. Rejects with an `IssueError`
   * `signer_unavailable`.
   */
  sign(transaction: UnsignedTransaction): Promise<Hex>
}
