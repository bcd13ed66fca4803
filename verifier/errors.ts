/** Why the chain could not be read. Stable: it becomes the code of the `chain` check. */
export type ChainErrorCode =
  /** No answer: refused, timed out, not HTTP 200, not JSON-RPC. */
  | 'rpc_unreachable'
  /** The node answered with a JSON-RPC error. */
  | 'rpc_error'
  /** There is no registry at the address: its answer is not a `Verification`. */
  | 'no_registry'
  /** The node is one of another chain. */
  | 'wrong_chain'
  /** The node does not have the state of the block that was asked for. */
  | 'state_unavailable'
  /** So many endpoints as must agree do not. */
  | 'endpoints_disagree'
  /**
   * The node gives no proof: it does not know `eth_getProof`, or its headers have fields that are
   * not known here.
   */
  | 'proof_unavailable'
  /** The proof proves nothing. */
  | 'proof_invalid'
  /** The proof is of a block whose hash the reader does not trust. */
  | 'block_untrusted'
  /** The proof is one of another registry. */
  | 'other_registry'
  /** Other code than expected is at the registry's address. */
  | 'other_code'
  /** The node no longer has the logs of the blocks that were asked for. */
  | 'pruned'
  /** No proof holds the requested document. */
  | 'unproven'
  /** Without a good batch block, nothing leads from a publicId of kind 2 to a record. */
  | 'batch_unknown'

/** Thrown by chain readers. Nothing is known about the document when it is thrown. */
export class ChainError extends Error {
  override name = 'ChainError'
  readonly code: ChainErrorCode

  constructor(code: ChainErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/**
 * Thrown by an {@link Eip1193Provider} when the node answered with an error: `code` is that of
 * JSON-RPC or EIP-1474.
 */
export class RpcResponseError extends Error {
  override name = 'RpcResponseError'
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}
