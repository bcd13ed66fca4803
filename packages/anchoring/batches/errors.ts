import { CodedError } from '#document/errors.ts'

export type BatchErrorCode =
  /** The upload has more documents or bytes than a batch may have. */
  | 'too_large'
  /** The upload was cut off. */
  | 'truncated'
  /** The batch has no documents. */
  | 'empty'

/** Thrown when an upload was not read completely, or is empty. Nothing was done. */
export class BatchError extends CodedError<BatchErrorCode> {
  override name = 'BatchError'
}
