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
  /** The registry has this document with another expiry. */
  | 'conflict'
  /**
   * The registry has this document, and it reads Distrusted. Issuing it again would make it valid,
   * which an operator decides, not the repeat of a request.
   */
  | 'distrusted'
  /** There is no such document to revoke, suspend or release. */
  | 'not_issued'
  /** The document is another issuer's. */
  | 'other_issuer'
  /** The document is revoked for good: it cannot be suspended or released. */
  | 'already_revoked'
  /** There is no suspension to release. */
  | 'not_suspended'
  /** The opposite was asked for, and is not on the chain yet. Nothing was promised. */
  | 'change_pending'
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

/** Why a document cannot be issued. */
export function refusalOf(code: 'conflict' | 'distrusted'): IssueError {
  return code === 'conflict'
    ? new IssueError(code, 'the record under this hash has another expiry')
    : new IssueError(code, 'the record under this hash reads Distrusted')
}

/**
 * @param readiness Of the gateway's account, which may still revoke.
 * @throws {IssueError} `registry_refused` when the issuer is closed.
 */
export function assertOpenIssuer<T extends { mayIssue: boolean }>(readiness: T): T {
  if (readiness.mayIssue) return readiness
  throw new IssueError('registry_refused', 'the issuer is closed')
}
