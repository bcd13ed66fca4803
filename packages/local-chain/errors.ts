type LocalChainErrorCode =
  | 'anvil_failed'
  | 'anvil_missing'
  | 'data_dir_in_use'
  | 'journal_corrupt'
  | 'other_version'
  | 'port_taken'
  | 'replay_failed'

/** Thrown when the local chain cannot start or continue. The message says what the user can do. */
export class LocalChainError extends Error {
  override readonly name = 'LocalChainError'
  readonly code: LocalChainErrorCode

  constructor(code: LocalChainErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
