import { CodedError } from '#document/errors.ts'
import type { Outcome } from './anchoring.ts'

/** Why nothing was issued or revoked. Stable: clients get it as `code`. */
export type IssueErrorCode =
  /** No node answered. Nothing was promised; the same request can be sent again. */
  | 'chain_unavailable'
  /** The registry or the chain refuses this gateway's transactions. The log has the reason. */
  | 'registry_refused'
  /** The current fee is above the cap. */
  | 'fee_too_high'
  /** The queue is full. */
  | 'overloaded'
  /** The service is stopping. */
  | 'stopping'
  /** The Idempotency-Key was used for another document. */
  | 'idempotency_key_reused'
  /** The registry has this document with another expiry. */
  | 'conflict'
  /**
   * The registry has this document, and it is distrusted. Issuing it again would make it valid,
   * which is for an operator to decide.
   */
  | 'distrusted'
  /** There is no such document to revoke, suspend or release. */
  | 'not_issued'
  /** The document of this Idempotency-Key has been erased, permanently. */
  | 'erased'
  /** The document belongs to another issuer. */
  | 'other_issuer'
  /** The document is revoked permanently: it cannot be suspended or released. */
  | 'already_revoked'
  /** The document has a successor already. */
  | 'already_superseded'
  /** There is no suspension to release. */
  | 'not_suspended'
  /** The opposite was requested and is not on the chain yet. Nothing was promised. */
  | 'change_pending'
  /** The disk or the payload store refuses the write, or does not respond. */
  | 'store_unavailable'
  /** The database was asked to commit, and its answer was lost: it may have been done. */
  | 'outcome_unknown'
  /** The remote signer does not respond, refuses to sign, or signed something else. */
  | 'signer_unavailable'
  /** Something else sends transactions with this gateway's account. */
  | 'account_shared'
  /**
   * The batch does not fit in one transaction. This is handled inside `engine/` and never reaches a
   * client.
   */
  | 'too_large'

/** Thrown when nothing was done and nothing will be, except for `outcome_unknown`. */
export class IssueError extends CodedError<IssueErrorCode> {
  override name = 'IssueError'
}

/** @returns An `IssueError` unchanged; any other error as `chain_unavailable`. */
export function asIssueError(error: unknown): IssueError {
  if (error instanceof IssueError) return error
  return new IssueError('chain_unavailable', String(error), error)
}

/** @returns Why a document can never be issued; `undefined` when the outcome does not say so. */
export function refusalOf({ status }: Outcome): IssueError | undefined {
  if (status === 'conflict')
    return new IssueError(status, 'the record of this hash has a different expiry')
  if (status === 'distrusted')
    return new IssueError(status, 'the record of this hash is distrusted')
  return undefined
}

/**
 * @param readiness The readiness of the gateway's account, which may still be able to revoke.
 * @throws {IssueError} `registry_refused` when the issuer is closed.
 */
export function assertOpenIssuer<T extends { mayIssue: boolean }>(readiness: T): T {
  if (readiness.mayIssue) return readiness
  throw new IssueError('registry_refused', 'the issuer is closed')
}
