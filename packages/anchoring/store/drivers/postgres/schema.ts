import pg from 'pg'
import type { Row } from '../../sql.ts'
import { SCHEMA_VERSION, schemaOf } from '../../tables.ts'
import { optionsOf, type Query } from './connection.ts'
import { DatabaseUrlError, outageOf } from './errors.ts'

/** Identifies this service's lock; any number would do. */
const SCHEMA_LOCK = 7_160_017

/** Oldest server that the tests run on: 15. */
const MIN_SERVER_VERSION = 150_000

const SCHEMA = `
  ${schemaOf('postgres')}
  -- Sealed bytes do not compress.
  ALTER TABLE payload ALTER COLUMN bytes SET STORAGE EXTERNAL;
  INSERT INTO key_change (version) VALUES (0);
  CREATE TABLE schema_version (version integer NOT NULL);
  INSERT INTO schema_version VALUES (${SCHEMA_VERSION});`

/**
 * Makes the tables of an empty database. Gateways that start at the same time wait for each other.
 *
 * @throws {DatabaseUrlError} when another version of the service made them, or the server cannot be
 * used.
 * @throws {IssueError} `store_unavailable`.
 */
export async function createSchema(url: string): Promise<void> {
  const client = new pg.Client(optionsOf(url))
  // A connection that breaks rejects the statement that waits for it.
  client.on('error', () => {})
  try {
    await client.connect()
    const query = (async (text) => (await client.query(text)).rows) as Query
    const problem = await serverProblem(query)
    if (problem) throw new DatabaseUrlError(problem)
    await client.query('BEGIN')
    await client.query('SELECT pg_advisory_xact_lock($1)', [SCHEMA_LOCK])
    const version = await readSchemaVersion(query)
    if (version === 0) await client.query(SCHEMA)
    else assertVersion(version)
    await client.query('COMMIT')
  } catch (error) {
    if (error instanceof DatabaseUrlError) throw error
    throw outageOf(error)
  } finally {
    await client.end().catch(() => {})
  }
}

/** @throws {DatabaseUrlError} */
export function assertVersion(version: number): void {
  if (version === SCHEMA_VERSION) return
  // It would be wrong to go on with both.
  if (version < 0)
    throw new DatabaseUrlError(
      'leads to a database that was moved to a data folder: start with that DATA_DIR, without DATABASE_URL',
    )
  const writer = version > SCHEMA_VERSION ? 'a newer version' : 'an older version'
  throw new DatabaseUrlError(
    `leads to a database of ${writer} of this service (schema ${version}, this one's is ${SCHEMA_VERSION}), which is not converted: start that version, or name an empty database`,
  )
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

/** Reads the version of the schema, and changes nothing. @returns 0 in an empty database. */
export async function readSchemaVersion(query: Query): Promise<number> {
  const [table] = await query("SELECT to_regclass('schema_version') IS NOT NULL AS is_there")
  if (table?.is_there !== true) return 0
  const [row] = await query('SELECT version FROM schema_version')
  return Number(row?.version ?? 0)
}
