import pg from 'pg'

/** The driver's options of a connection. */
export type ConnectionOptions = pg.ClientConfig

/** How long a connection may take to open. */
const CONNECT_TIMEOUT_MS = 5_000
/** How long the server works on a statement. */
const STATEMENT_TIMEOUT_MS = 10_000
/** How long a gateway waits for an answer, if the network was cut: longer than the server does. */
const ANSWER_TIMEOUT_MS = 12_000
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
 * @param url `postgres://…`; its parameters choose TLS (`sslmode`, `sslrootcert`).
 * @param limits Absent for work that may take long, such as changes of the schema.
 */
export function optionsOf(url: string, limits = true): ConnectionOptions {
  return {
    connectionString: url,
    application_name: 'document-registry',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types,
    ...(limits && {
      statement_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    }),
  }
}
