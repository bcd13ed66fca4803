export type LocalChainErrorCode =
  | 'anvil_missing'
  | 'anvil_failed'
  | 'data_dir_in_use'
  | 'journal_corrupt'
  | 'no_usable_state'
  | 'port_taken'
  | 'replay_failed'

/** Why the local chain cannot start or go on. The message says what the user can do. */
export class LocalChainError extends Error {
  readonly code: LocalChainErrorCode

  constructor(code: LocalChainErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LocalChainError'
    this.code = code
  }
}
