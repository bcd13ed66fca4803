/** Why a document was not issued. Stable: it is the `code` of the answer. */
export type IssueErrorCode =
  /** No node answered. Nothing was promised; the same request can be sent again. */
  | 'chain_unavailable'
  /** The registry or the chain refuses this gateway's transactions, for the reason in the log. */
  | 'registry_refused'
  /** The payload store does not answer, or does not keep what it is given. Nothing was promised. */
  | 'store_unavailable'
  /** The remote signer does not answer, will not sign, or signed something else. Nothing was promised. */
  | 'signer_unavailable'
  /** The service is stopping. */
  | 'stopping'

/** Thrown when nothing was issued and nothing will be: the intent, if there was one, has been withdrawn. */
export class IssueError extends Error {
  override name = 'IssueError'
  readonly code: IssueErrorCode

  constructor(code: IssueErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}
