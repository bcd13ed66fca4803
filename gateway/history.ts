import type { Hex } from '../document/hex.ts'
import type { BlockchainProof } from '../verifier/verdict.ts'

/** Where documents were anchored, for good. Nodes forget events and receipts; this does not. */
export type History = {
  /**
   * @returns The transaction that anchored a document in this block; `null` where it is not known. A
   *   document that was anchored again is in another block.
   */
  transactionOf(documentHash: Hex, blockNumber: number): Promise<Hex | null>
}

/** @returns A proof with the transaction that this gateway kept, where no node had the event. */
export async function withHistory<P extends BlockchainProof | null>(
  history: History,
  proof: P,
): Promise<P> {
  if (!proof || proof.transactionHash !== null) return proof
  const { documentHash, batchRoot, blockNumber } = proof
  const transactionHash = await history.transactionOf(batchRoot ?? documentHash, blockNumber)
  return { ...proof, transactionHash }
}
