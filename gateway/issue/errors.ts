/** Why nothing was issued or revoked. Stable: it is the `code` of the answer. */
export type IssueErrorCode =
  /** No node answered. Nothing was promised; the same request can be sent again. */
  | 'chain_unavailable'
  /** The registry or the chain refuses this gateway's transactions, for the reason in the log. */
  | 'registry_refused'
  /** The chain asks for more than the fee cap. */
  | 'fee_too_high'
  /** More waits already than is good for anyone. */
  | 'overloaded'
  /** The service is stopping. */
  | 'stopping'
  /** The idempotency key was used for another document. */
  | 'idempotency_key_reused'
  /** There is no such document to revoke. */
  | 'not_issued'
  /** The disk or the payload store does not take it, or does not answer. */
  | 'store_unavailable'
  /** The remote signer does not answer, will not sign, or signed something else. */
  | 'signer_unavailable'
  /** So many do not fit in one transaction; told to nobody outside. */
  | 'too_large'

/** Thrown when nothing was done and nothing will be: the intent, if there was one, has been withdrawn. */
export class IssueError extends Error {
  override name = 'IssueError'
  readonly code: IssueErrorCode

  constructor(code: IssueErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/** @returns The error itself, or what is not known of it: as far as anyone can tell, the chain cannot be reached. */
export function asIssueError(error: unknown): IssueError {
  if (error instanceof IssueError) return error
  return new IssueError('chain_unavailable', String(error), error)
}
