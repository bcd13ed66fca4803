type KindErrorCode =
  /** There is no kind of this category. */
  | 'unknown'
  /** The kind is not the one that the change is based on. */
  | 'kind_changed'
  | 'too_many_kinds'

/** Thrown when a kind of documents was not changed. */
export class KindError extends Error {
  override name = 'KindError'
  readonly code: KindErrorCode

  constructor(code: KindErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
