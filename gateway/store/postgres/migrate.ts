import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { optionsOf } from '../drivers/postgres/connection.ts'
import { DatabaseUrlError, outageOf } from '../drivers/postgres/errors.ts'
import type { Query, Row } from '../drivers/postgres/query.ts'

const FOLDER = new URL('./schema/', import.meta.url)

/** Identifies this service's lock; any number would do. */
const MIGRATION_LOCK = 7_160_017

/** Oldest server that the tests run on: 15. */
const MIN_SERVER_VERSION = 150_000

/** The files of the schema, in order; the number of the last one is the schema version. */
function schemaFiles(): { version: number; sql: string }[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({
      version: Number.parseInt(name, 10),
      sql: readFileSync(new URL(name, FOLDER), 'utf8'),
    }))
}

const newestVersion = () => schemaFiles().at(-1)?.version ?? 0

/**
 * Brings the schema up to date: each file runs once, in order, all in one transaction. Gateways
 * that start at the same time wait for each other.
 *
 * @throws {DatabaseUrlError} when a newer version of the service has changed the schema, or the
 * server cannot be used.
 * @throws {IssueError} `store_unavailable`.
 */
export async function migrate(url: string): Promise<void> {
  const client = new pg.Client(optionsOf(url))
  // A connection that breaks rejects the statement that waits for it.
  client.on('error', () => {})
  try {
    await client.connect()
    const problem = await serverProblem(async (text) => (await client.query(text)).rows)
    if (problem) throw new DatabaseUrlError(problem)
    await client.query('BEGIN')
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    await runMissing(client)
    await client.query('COMMIT')
  } catch (error) {
    if (error instanceof DatabaseUrlError) throw error
    throw outageOf(error)
  } finally {
    await client.end().catch(() => {})
  }
}

/** @returns Why the server or database cannot be used, and what to do. */
export async function serverProblem(query: Query): Promise<string | undefined> {
  const [row] = await query(`
    SELECT current_setting('server_version_num')::int AS version,
      current_setting('server_encoding') AS encoding,
      current_setting('synchronous_commit') AS synchronous`)
  const { version, encoding, synchronous } = row as Row
  if (Number(version) < MIN_SERVER_VERSION)
    return `leads to PostgreSQL ${Math.floor(Number(version) / 10_000)}: 15 or newer is required`
  if (encoding !== 'UTF8')
    return `leads to a database with the encoding ${encoding}: create one with UTF8`
  if (synchronous === 'off')
    return 'leads to a server with synchronous_commit = off, which loses acknowledged documents in a crash: switch it on'
  return undefined
}

/**
 * Reads the version of the schema, and changes nothing.
 *
 * @returns Its version, 0 in an empty database, and that of this service.
 */
export async function readSchemaVersion(
  query: Query,
): Promise<{ version: number; newest: number }> {
  const newest = newestVersion()
  const [table] = await query("SELECT to_regclass('schema_version') IS NOT NULL AS is_there")
  if (table?.is_there !== true) return { version: 0, newest }
  const [row] = await query('SELECT version FROM schema_version')
  return { version: Number(row?.version ?? 0), newest }
}

async function runMissing(client: pg.Client): Promise<void> {
  await client.query('CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)')
  const { rows } = await client.query('SELECT version FROM schema_version')
  const current = Number(rows[0]?.version ?? 0)
  // Its version is negative then: it would be wrong to go on with both.
  if (current < 0)
    throw new DatabaseUrlError(
      'leads to a database that was moved to a data folder: start with that DATA_DIR, without DATABASE_URL',
    )
  const files = schemaFiles()
  const newest = newestVersion()
  if (current > newest)
    throw new DatabaseUrlError(
      `leads to a database that a newer version of this service wrote (its schema is ${current}, this one's is ${newest}): start that version`,
    )
  for (const { version, sql } of files) if (version > current) await client.query(sql)
  if (rows.length === 0) await client.query('INSERT INTO schema_version VALUES ($1)', [newest])
  else await client.query('UPDATE schema_version SET version = $1', [newest])
}
