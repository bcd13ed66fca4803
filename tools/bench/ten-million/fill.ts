// Databases as gateways would leave them after issuing many documents. What depends on the tables
// is in `insertsFor`; the same SQL fills SQLite and PostgreSQL.
import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { createSchema } from '#store/drivers/postgres/schema.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { EXPIRY, FIRST_BLOCK } from './chain.ts'

/**
 * Numbers of rows: documents, of which some are on the chain in a number of blocks that are not
 * final, and some promised but not on the chain; and how many have an idempotency key.
 */
export type Rows = ReturnType<typeof rowsFor>

/** @returns Realistic shares for this number of documents. */
export function rowsFor(documents: number) {
  const notFinal = Math.min(Math.floor(documents / 10), 1_000_000)
  return {
    documents,
    notFinal,
    blocks: Math.min(notFinal, 100_000),
    queued: Math.min(Math.floor(documents / 100), 1_000),
    keys: documents,
  }
}

const SEALED_BYTES = 200
/** The number of documents in a final block. */
const IN_BLOCK = 200
/** The cost of a send in gwei. */
const FEE = 1_000_000
const CATEGORIES = 20
/** When documents were promised, in seconds of the Unix epoch: ten million in a year. */
const FIRST_SECOND = 1_700_000_000
const SECONDS_APART = 3
/** The maximum number of rows that one statement writes. */
const MAX_ROWS = 500_000

/** Rows with the numbers `i` from `from` to before `to`. */
type Part = { from: number; to: number }

/** An INSERT: the parts of its rows, and SQL for each column. */
type Insert = {
  into: string
  parts: readonly Part[]
  columns(part: Part): Record<string, string | number>
}

function insertsFor(rows: Rows): Insert[] {
  const { documents, queued, notFinal, blocks, keys } = rows
  const waitingFrom = documents - queued
  const openFrom = waitingFrom - notFinal
  const finalSends = Math.ceil(openFrom / IN_BLOCK)
  const index = `(i - ${openFrom}) % ${blocks}`
  const final: Part = { from: 0, to: openFrom }
  const open: Part = { from: openFrom, to: waitingFrom }
  const waiting: Part = { from: waitingFrom, to: documents }
  const all = [final, open, waiting]
  const openSends: Part = { from: 0, to: notFinal > 0 ? blocks : 0 }
  const carried = Math.ceil(notFinal / Math.max(1, blocks))
  // One account, which the measured gateway does not have.
  const account = 'bytes_of(1, 20)'
  return [
    {
      into: 'payload',
      parts: all,
      columns: () => ({ hash: 'digest_of(i)', bytes: 'payload_of(i)' }),
    },
    {
      into: 'record',
      parts: all,
      columns: () => ({
        hash: 'digest_of(i)',
        issued_on: 20_000,
        valid_until: EXPIRY,
        subject: 'number_of(i)',
        category: `i % ${CATEGORIES}`,
        tenant: "'default'",
        created_at: `${FIRST_SECOND} + i * ${SECONDS_APART}`,
        actor: "'key 0123456789ab the desk'",
        request: `CASE WHEN i < ${keys} THEN substr(digest_of(i), 1, 16) END`,
      }),
    },
    { into: 'waiting', parts: [waiting], columns: () => ({ record: 'i + 1' }) },
    {
      into: 'send',
      parts: [{ from: 0, to: finalSends }],
      columns: () => ({
        account,
        nonce: 'i',
        block_number: 'i',
        block_hash: 'bytes_of(i, 32)',
        transaction_hash: 'digest_of(i)',
        fee: FEE,
        settled_at: `1000 * (${FIRST_SECOND} + i * ${IN_BLOCK * SECONDS_APART})`,
        seen: 'true',
        final: 'true',
      }),
    },
    {
      into: 'send',
      parts: [openSends],
      columns: () => ({
        account,
        nonce: `${finalSends} + i`,
        block_number: `${FIRST_BLOCK} + i`,
        block_hash: `bytes_of(${FIRST_BLOCK} + i, 32)`,
        transaction_hash: `digest_of(${FIRST_BLOCK} + i)`,
        fee: FEE,
        settled_at: `1000 * (${FIRST_SECOND} + i * ${IN_BLOCK * SECONDS_APART})`,
      }),
    },
    {
      into: 'member',
      parts: [final, open],
      columns: (part) => ({
        send: part === final ? `i / ${IN_BLOCK} + 1` : `${finalSends} + 1 + ${index}`,
        place: 'i + 1',
        record: 'i + 1',
      }),
    },
    {
      into: 'attempt',
      parts: [openSends],
      columns: () => ({
        send: `${finalSends} + 1 + i`,
        hash: `digest_of(${FIRST_BLOCK} + i)`,
        raw: 'payload_of(i)',
        carried,
        gas_limit: 1_000_000,
        max_fee_per_gas: "'2000000000'",
        max_priority_fee_per_gas: "'1000000000'",
      }),
    },
  ]
}

/** Writes one table after another, each in the order in which documents come in. */
async function fillTables(run: (statement: string) => Promise<void>, rows: Rows): Promise<void> {
  for (const { into, parts, columns } of insertsFor(rows))
    for (const part of parts) {
      const names = Object.keys(columns(part)).join(', ')
      const values = Object.values(columns(part)).join(', ')
      for (let { from } = part; from < part.to; from += MAX_ROWS) {
        const numbers = series(from, Math.min(from + MAX_ROWS, part.to))
        await run(`INSERT INTO ${into} (${names}) SELECT ${values} FROM ${numbers}`)
      }
    }
}

const series = (from: number, to: number) =>
  `(WITH RECURSIVE numbers (i) AS (SELECT CAST(${from} AS bigint)
    UNION ALL SELECT i + 1 FROM numbers WHERE i + 1 < ${to}) SELECT i FROM numbers) AS one`

const int8 = (number: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(number))
  return bytes
}
const digestOf = (number: number) => createHash('sha256').update(int8(number)).digest()
const bytesOf = (number: number, size: number) =>
  Buffer.from(number.toString(16).padStart(2 * size, '0'), 'hex')

/** The functions of these statements in SQLite. */
export const SQLITE_FUNCTIONS = {
  digest_of: digestOf,
  number_of: (i: number) => digestOf(i).readBigInt64BE(),
  bytes_of: (number: number, size: number) => bytesOf(number, size),
  payload_of: (i: number) =>
    createHash('shake256', { outputLength: SEALED_BYTES }).update(int8(i)).digest(),
}

const PAYLOAD = Array.from(
  { length: Math.ceil(SEALED_BYTES / 32) },
  (_, part) => `digest_of($1 * 8 + ${part})`,
)
/** The same in PostgreSQL; the bytes of payloads are others. */
export const POSTGRES_FUNCTIONS = `
  CREATE FUNCTION digest_of(bigint) RETURNS bytea IMMUTABLE RETURN sha256(int8send($1));
  CREATE FUNCTION number_of(bigint) RETURNS bigint IMMUTABLE
    RETURN ('x' || encode(substr(digest_of($1), 1, 8), 'hex'))::bit(64)::bigint;
  CREATE FUNCTION bytes_of(bigint, int) RETURNS bytea IMMUTABLE
    RETURN decode(lpad(to_hex($1), 2 * $2, '0'), 'hex');
  CREATE FUNCTION payload_of(bigint) RETURNS bytea IMMUTABLE
    RETURN substr(${PAYLOAD.join(' || ')}, 1, ${SEALED_BYTES});`
const DROP_FUNCTIONS = `DROP FUNCTION ${Object.keys(SQLITE_FUNCTIONS).toReversed().join(', ')}`

/** The size of SQLite's cache in KiB, which is large because trees are written in random order. */
const CACHE = 2 * 2 ** 20

/** Creates a SQLite database and fills it. */
export async function fillSqlite(path: string, rows: Rows): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // Creates the tables.
  await openSqlite(path).close()
  const sqlite = new DatabaseSync(path)
  for (const [name, of] of Object.entries(SQLITE_FUNCTIONS))
    sqlite.function(name, { deterministic: true }, of as (...args: unknown[]) => Uint8Array)
  sqlite.exec(`
    PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA cache_size = -${CACHE}; BEGIN`)
  await fillTables(async (statement) => sqlite.exec(statement), rows)
  sqlite.exec('COMMIT')
  sqlite.close()
  // Later measurements do not wait for its pages.
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

/** Fills an empty PostgreSQL database. */
export async function fillPostgres(url: string, rows: Rows): Promise<void> {
  await createSchema(url)
  const run = async (statement: string) => {
    const client = new pg.Client({ connectionString: url, options: '-c synchronous_commit=off' })
    await client.connect()
    await client.query(statement).finally(() => client.end())
  }
  await run(POSTGRES_FUNCTIONS)
  await fillTables(run, rows)
  await run(DROP_FUNCTIONS)
  // This is what autovacuum does in the months in which a database really fills up.
  await run('VACUUM (ANALYZE, FREEZE)')
  await run('CHECKPOINT')
}
