type KeyErrorCode =
  /** There is no key with this id. */
  | 'unknown_key'
  /** Another key has already taken its place. */
  | 'already_rotated'
  /** There are too many keys to add another. */
  | 'too_many_keys'
  /** The settings contradict each other. */
  | 'inconsistent'

/** Thrown when a key was not created or changed. The message has the reason, and no secret. */
export class KeyError extends Error {
  override name = 'KeyError'
  readonly code: KeyErrorCode
  /** The setting at fault, for `inconsistent`. */
  readonly field: string | undefined

  constructor(code: KeyErrorCode, message: string, field?: string) {
    super(message)
    this.code = code
    this.field = field
  }
}
