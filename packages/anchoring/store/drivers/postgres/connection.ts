import pg from 'pg'
import type { Row } from '../../sql.ts'
import { outageOf } from './errors.ts'

/** How long a connection may take to open. */
const CONNECT_TIMEOUT_MS = 5_000
/** How long the server works on a statement. */
const STATEMENT_TIMEOUT_MS = 10_000
/** How much longer a gateway waits for an answer, if the network was cut. */
const ANSWER_MARGIN_MS = 2_000
export const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + ANSWER_MARGIN_MS
/** How long a stopped process may keep its locks. */
const IDLE_TRANSACTION_TIMEOUT_MS = 10_000

const BIGINT = 20

/** Numbers of blocks, rows and milliseconds are all below 2^53; blind indexes are never read. */
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === BIGINT
      ? Number
      : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
}

/**
 * The limits of the server. Not in the first packet of the connection, since PgBouncer refuses them
 * there.
 */
const limitsOf = (statementTimeout: number) => `SET statement_timeout = ${statementTimeout};
  SET idle_in_transaction_session_timeout = ${IDLE_TRANSACTION_TIMEOUT_MS}`

/**
 * @param url `postgres://…`; its parameters choose TLS (`sslmode`, `sslrootcert`).
 * @param answerTimeoutMs Absent for work that may take long, such as changes of the schema.
 */
export function optionsOf(url: string, answerTimeoutMs?: number): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'document-registry',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types,
    ...(answerTimeoutMs !== undefined && { query_timeout: answerTimeoutMs }),
  }
}

/**
 * The options of the connections that read and write; each of them has time limits.
 *
 * @param statementTimeout How long a statement may take; milliseconds. Absent = as for requests.
 */
export function poolOptionsOf(
  url: string,
  max: number,
  statementTimeout = STATEMENT_TIMEOUT_MS,
): pg.PoolConfig {
  return {
    ...optionsOf(url, statementTimeout + ANSWER_MARGIN_MS),
    max,
    pipeline: true,
    onConnect: async (client) => {
      await client.query(limitsOf(statementTimeout))
    },
  }
}

/**
 * Runs one statement.
 *
 * @param values For `$1` and so on. Bytes are `bytea`, an array is an array, `undefined` is NULL.
 * @throws {IssueError} `store_unavailable`.
 */
export type Query = <R extends Row = Row>(text: string, values?: readonly unknown[]) => Promise<R[]>

/** Names by text: the server then plans each statement once for a connection. */
const names = new Map<string, string>()

function nameOf(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = `s${names.size}`
  names.set(text, name)
  return name
}

/** @returns Statements on one connection; each text must be one of a few, as it is prepared. */
export function queryOn(client: Pick<pg.ClientBase, 'query'>): Query {
  return async <R extends Row>(text: string, values: readonly unknown[] = []) => {
    try {
      const { rows } = await client.query({ name: nameOf(text), text, values: [...values] })
      return rows as R[]
    } catch (error) {
      throw outageOf(error)
    }
  }
}
