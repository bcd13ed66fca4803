export type BatchErrorCode =
  /** The upload has more documents or bytes than a batch may have. */
  | 'too_large'
  /** The upload was cut off. */
  | 'truncated'
  /** The batch has no documents. */
  | 'empty'

/** Thrown when an upload was not read completely, or is empty. Nothing was done. */
export class BatchError extends Error {
  override name = 'BatchError'
  readonly code: BatchErrorCode

  constructor(code: BatchErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}
