/** Why a data folder cannot be used. The message says what to do. */
export class DataDirError extends Error {
  override name = 'DataDirError'
  readonly code: 'bound_to_another' | 'other_version'

  constructor(code: DataDirError['code'], message: string) {
    super(message)
    this.code = code
  }
}
