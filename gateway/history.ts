import type { Hex } from '../document/hex.ts'
import type { BlockchainProof } from '../verifier/verdict.ts'

/** Where documents were anchored, for good. Nodes forget events and receipts; this does not. */
export type History = {
  /**
   * @param hash Of a document that was issued alone, or the root of a batch.
   * @returns The transaction that anchored it in this block; `null` where it is not known. What was
   * anchored again is in another block.
   */
  transactionOf(hash: Hex, blockNumber: number): Promise<Hex | null>
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
