import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { ConfigError } from '#settings/config.ts'
import type { Database } from '#store/database.ts'
import { optionsOf, type Query, queryOn } from '#store/drivers/postgres/connection.ts'
import { createPort } from '#store/drivers/postgres/database.ts'
import { outageOf } from '#store/drivers/postgres/errors.ts'
import { createSchema } from '#store/drivers/postgres/schema.ts'
import { MOVED } from '#store/tables.ts'

/** How long stopped gateways may take to disconnect from the server. */
const LEAVING_MS = 5_000
const POLL_INTERVAL_MS = 200

const NAMES = MOVED.map(({ name }) => name)

/** A transaction that has the database to itself. */
export type Session = {
  query: Query
  /** The same transaction for repositories. */
  database: Database
  commit(): Promise<void>
  /** Undoes everything unless it was committed. */
  close(): Promise<void>
}

/**
 * Opens a database that no gateway uses, and keeps gateways out until it is closed.
 *
 * @param mode `read` sees it as of one moment; `write` can change it.
 * @throws {ConfigError} when a gateway uses it.
 * @throws {DatabaseUrlError} when it cannot be used.
 * @throws {IssueError} `store_unavailable`.
 */
export async function openSession(url: string, mode: 'read' | 'write'): Promise<Session> {
  await createSchema(url)
  // The types are omitted, so that 64-bit numbers are read as text.
  const { types: _, ...options } = optionsOf(url)
  const client = new pg.Client({ ...options, application_name: 'document-registry move' })
  client.on('error', () => {})
  const query = queryOn(client)
  const close = () => client.end().catch(() => {})
  try {
    await client.connect().catch((error) => {
      throw outageOf(error)
    })
    await assertUnused(query)
    await begin(query, mode)
    // A gateway may have started since.
    await assertUnused(query)
    const database = createPort(
      { query, execute: query, transaction: (work) => work(query) },
      { brief: (read) => read(), listen: () => () => {} },
    )
    return { query, database, commit: async () => void (await query('COMMIT')), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function begin(query: Query, mode: 'read' | 'write'): Promise<void> {
  await query(mode === 'read' ? 'BEGIN ISOLATION LEVEL REPEATABLE READ' : 'BEGIN')
  await query('SET LOCAL statement_timeout = 0')
  await query('SET LOCAL idle_in_transaction_session_timeout = 0')
  await query(`SET LOCAL lock_timeout = ${LEAVING_MS}`)
  const lock = mode === 'read' ? 'SHARE' : 'ACCESS EXCLUSIVE'
  await query(`LOCK TABLE ${NAMES.join(', ')} IN ${lock} MODE`)
}

/**
 * A gateway always has an open connection on which it listens. A pooler resets the connections that
 * it keeps.
 */
async function assertUnused(query: Query): Promise<void> {
  for (const end = performance.now() + LEAVING_MS; ; ) {
    await query('SELECT pg_stat_clear_snapshot()')
    const [row] = await query(`
      SELECT count(*) AS connections FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'document-registry'
        AND NOT (state = 'idle' AND query = 'DISCARD ALL')`)
    const connections = Number(row?.connections)
    if (connections === 0) return
    if (performance.now() > end)
      throw new ConfigError([
        `a gateway uses the database of DATABASE_URL (${connections} connections): stop every gateway first`,
      ])
    await sleep(POLL_INTERVAL_MS)
  }
}

/**
 * Prepares the database to be filled.
 *
 * @throws {ConfigError} when it has rows.
 */
export async function prepareEmpty(query: Query): Promise<void> {
  const filled: string[] = []
  for (const name of NAMES)
    if ((await query(`SELECT 1 FROM ${name} LIMIT 1`)).length > 0) filled.push(name)
  if (filled.length > 0)
    throw new ConfigError([
      `the database of DATABASE_URL is not empty (${filled.join(', ')}): create an empty one`,
    ])
  // This also frees the space of an interrupted attempt.
  await query(`TRUNCATE ${NAMES.join(', ')} RESTART IDENTITY`)
}

export async function finishFilled(query: Query): Promise<void> {
  await query(`ANALYZE ${NAMES.join(', ')}`)
}

/**
 * Marks the database as moved, so that no gateway starts with it, and one that was cut off and
 * comes back cannot accept a document.
 */
export async function markMoved(query: Query): Promise<void> {
  await query('ALTER TABLE record ADD CONSTRAINT moved CHECK (false) NOT VALID')
  await query('UPDATE schema_version SET version = -version')
}
