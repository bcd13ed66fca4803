type KeyErrorCode =
  /** There is no key with this id. */
  | 'unknown_key'
  /** Another key has taken its place already. */
  | 'already_rotated'
  /** There is no room for another key. */
  | 'too_many_keys'
  /** The settings contradict each other. */
  | 'inconsistent'

/** Thrown when a key was not made or changed. The message says why, and names no secret. */
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
