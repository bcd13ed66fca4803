import { CodedError } from '../document/errors.ts'

/** Why the chain could not be read. Stable: it becomes the code of the `chain` check. */
export type ChainErrorCode =
  /** There is no answer: it was refused, timed out, or was not HTTP 200 or JSON-RPC. */
  | 'rpc_unreachable'
  /** The node answered with a JSON-RPC error. */
  | 'rpc_error'
  /** There is no registry at the address, because its answer is not a `Verification`. */
  | 'no_registry'
  /** The node belongs to another chain. */
  | 'wrong_chain'
  /** The node does not have the state of the requested block. */
  | 'state_unavailable'
  /** Fewer than `quorum` endpoints gave the same answer. */
  | 'endpoints_disagree'
  /**
   * The node returned no proof, because it does not support `eth_getProof` or its headers have
   * unknown fields.
   */
  | 'proof_unavailable'
  /** The proof is invalid. */
  | 'proof_invalid'
  /** The reader does not trust the hash of the proof's block. */
  | 'block_untrusted'
  /** The proof belongs to another registry. */
  | 'other_registry'
  /** The code at the registry's address is not the expected one. */
  | 'other_code'
  /** The node has pruned the logs of the requested blocks. */
  | 'pruned'
  /** No proof covers the requested document. */
  | 'unproven'
  /** No source has the batch block, which links a publicId of kind 2 to its record. */
  | 'batch_unknown'
  /** No source has the sealed document for a bundle, and at least one did not answer. */
  | 'payload_unreachable'

/** Thrown by chain readers. It says nothing about the document. */
export class ChainError extends CodedError<ChainErrorCode> {
  override name = 'ChainError'
}

/**
 * Thrown by an {@link Eip1193Provider} for an error response of the node. `code` is that of
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

/** A server answered with an HTTP status that is not JSON-RPC's, for example 429. */
export class HttpStatusError extends Error {
  override name = 'HttpStatusError'
  readonly status: number
  /** How long the server asks to wait before the next request, in milliseconds. */
  readonly retryAfter: number | undefined

  constructor(status: number, retryAfter?: number) {
    super(`HTTP ${status}`)
    this.status = status
    this.retryAfter = retryAfter
  }
}

/** @returns The error of a response whose body is not read. */
export async function refusalOf({ status, headers, body }: Response): Promise<HttpStatusError> {
  await body?.cancel()
  return new HttpStatusError(status, readRetryAfter(headers.get('retry-after')))
}

/**
 * @param header The value of `Retry-After` (RFC 9110, section 10.2.3): seconds or a date.
 * @returns Milliseconds from now; `undefined` for a missing or malformed value.
 */
export function readRetryAfter(header: string | null | undefined): number | undefined {
  if (!header) return undefined
  const milliseconds = /^\d+$/.test(header)
    ? 1000 * Number(header)
    : Date.parse(header) - Date.now()
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, milliseconds)
}
