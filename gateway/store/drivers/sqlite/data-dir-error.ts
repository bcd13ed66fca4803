/** The data folder cannot be used. The message says what to do. */
export class DataDirError extends Error {
  override name = 'DataDirError'
  readonly code: 'bound_to_another' | 'in_use' | 'moved' | 'other_version' | 'unfinished'
  /** The message without `DATA_DIR` and the remedy, so that it also fits a backup of the folder. */
  readonly problem: string

  constructor(code: DataDirError['code'], problem: string, remedy: string) {
    super(`DATA_DIR ${problem}${remedy}`)
    this.code = code
    this.problem = problem
  }
}

/**
 * Files of a folder whose contents were moved to PostgreSQL have their schema version, negative: it
 * would be wrong to go on with both.
 */
export function movedError(): DataDirError {
  return new DataDirError(
    'moved',
    'was moved to PostgreSQL',
    ': set DATABASE_URL, or start with another DATA_DIR',
  )
}
