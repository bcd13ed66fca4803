export type BatchErrorCode =
  /** More documents or bytes than a batch takes. */
  | 'too_large'
  /** The upload broke off. */
  | 'truncated'
  /** The batch has no documents. */
  | 'empty'

/** Thrown when an upload was not read to its end, or has nothing in it. Nothing was done. */
export class BatchError extends Error {
  override name = 'BatchError'
  readonly code: BatchErrorCode

  constructor(code: BatchErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}
