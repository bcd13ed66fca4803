import type { Hex } from '#document/hex.ts'
import type { BlockchainProof } from '#verifier/verdict.ts'

/**
 * The transactions that anchored documents, stored permanently, because nodes drop old events and
 * receipts.
 */
export type History = {
  /**
   * @param hash The documentHash of a document that was issued alone, or the root of a batch.
   * @returns The transaction that anchored it in this block; `null` if unknown, for example because
   * the document was anchored again in another block.
   */
  transactionOf(hash: Hex, blockNumber: number): Promise<Hex | null>
}

/**
 * @returns The proof, with the transaction from the history if the node had no event. If the
 * history cannot be read, the transaction is missing, because it only informs.
 */
export async function withHistory<P extends BlockchainProof | null>(
  history: History,
  proof: P,
): Promise<P> {
  if (!proof || proof.transactionHash !== null) return proof
  const { documentHash, batchRoot, blockNumber } = proof
  const transactionHash = await history
    .transactionOf(batchRoot ?? documentHash, blockNumber)
    .catch(() => null)
  return { ...proof, transactionHash }
}
