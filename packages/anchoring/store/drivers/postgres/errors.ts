import { IssueError } from '#promise/errors.ts'

/** SQLSTATE of a transaction that lost a race, and can be run again. */
const RETRIABLE = ['40001', '40P01']
/** SQLSTATE of a server that starts, stops, or has no free connection. */
const AWAY = ['57P01', '57P02', '57P03', '53300']

/**
 * The database cannot be used as it is configured. The message says what to do, and has neither the
 * password nor the URL.
 */
export class DatabaseUrlError extends Error {
  override name = 'DatabaseUrlError'

  constructor(problem: string, cause?: unknown) {
    super(`DATABASE_URL ${problem}`, { cause })
  }
}

/**
 * @returns What is wrong with the certificate of the server, or with a file that the URL names;
 * `undefined` for any other error.
 */
export function tlsProblem(error: unknown): string | undefined {
  const { code, syscall, message } = error as NodeJS.ErrnoException
  if (syscall === 'open') return `names a file that cannot be read: ${message}`
  if (!/CERT|VERIFY|ALTNAME/.test(code ?? '')) return undefined
  return `leads to a server whose certificate is not accepted (${message}): name the file of its authority with ?sslmode=verify-full&sslrootcert=/path/to/ca.pem, and the host as the certificate does`
}

/** @returns The SQLSTATE of an error of the server; `undefined` for any other error. */
export function sqlStateOf(error: unknown): string | undefined {
  const { code } = error as { code?: unknown }
  // Each has a digit, unlike the codes of Node, such as `EPIPE`.
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/**
 * An error of the driver or the server, as the ports report it: an outage of the store.
 *
 * @returns An `IssueError` as it is.
 */
export function outageOf(error: unknown): IssueError {
  if (error instanceof IssueError) return error
  // The message of a rejected value would quote it.
  const state = sqlStateOf(error)
  const message = state?.startsWith('22') ? 'a value was rejected' : String(error)
  return new PostgresOutage('store_unavailable', `PostgreSQL: ${message}`, error)
}

/** SQLSTATE of connections that broke, and of servers that stop: not an answer to a COMMIT. */
const UNANSWERED = /^(08|57P)/

/** Same as `outageOf`, for a write that may have been committed before the connection broke. */
export function unansweredOf(error: unknown): IssueError {
  const outage = outageOf(error)
  const state = sqlStateOf(outage.cause ?? {})
  if (state !== undefined && !UNANSWERED.test(state)) return outage
  return new PostgresOutage('outcome_unknown', outage.message, outage.cause)
}

/** An outage of PostgreSQL itself; the cause is the error of the driver or the server. */
class PostgresOutage extends IssueError {}

/** Whether the driver or the server reported it, and not the work of a transaction. */
export const isOutage = (error: unknown): boolean => error instanceof PostgresOutage

/**
 * Whether PostgreSQL could not be reached, or cannot be used yet. What the server refuses for good,
 * such as a password, is not meant.
 */
export function isAway(error: unknown): boolean {
  if (!(error instanceof PostgresOutage)) return false
  const state = sqlStateOf(error.cause ?? {})
  return state === undefined || AWAY.includes(state)
}

/** Whether a transaction failed only because of others at the same time. */
export function isRetriable(error: unknown): boolean {
  const cause = error instanceof IssueError ? error.cause : error
  return RETRIABLE.includes(sqlStateOf(cause ?? {}) ?? '')
}
