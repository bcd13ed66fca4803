// Databases as gateways would leave them after issuing many documents. What depends on the tables
// is in `insertsFor` and DERIVED; the same SQL fills SQLite and PostgreSQL.
import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { createSchema } from '#store/drivers/postgres/schema.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { EXPIRY, FIRST_BLOCK, NO_BLOCK } from './chain.ts'

/**
 * Numbers of rows: documents, of which some are on the chain in a number of blocks that are not
 * final, and some promised but not on the chain; and idempotency keys, of which some are expired.
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
    expired: Math.floor(documents / 2),
  }
}

/** Where payloads are: all in the database or, for Kubo, only those of promises. */
type Payloads = 'embedded' | 'elsewhere'

/** The period of idempotency keys. */
const PERIOD = Math.floor(Date.now() / (7 * 86_400_000))
const SEALED_BYTES = 200
/** The number of documents in a final block. */
const IN_BLOCK = 200
const CATEGORIES = 20
/** When documents were promised, in seconds of the Unix epoch: ten million in a year. */
const FIRST_SECOND = 1_700_000_000
const SECONDS_APART = 3
/** The maximum number of rows that one statement writes. */
const MAX_ROWS = 500_000

/** Rows with the numbers `i` from `from` to before `to`, and SQL for what they differ in. */
type Part = {
  from: number
  to: number
  /** The number of the block. */
  block: string
  /** The hash of the document, which ends with the index of its pretended block. */
  hash: string
}

/** An INSERT: the parts of its rows, and SQL for each column. */
type Insert = {
  into: string
  parts: readonly Part[]
  columns(part: Part): Record<string, string | number>
}

function insertsFor(
  { documents, queued, notFinal, blocks, keys, expired }: Rows,
  payloads: Payloads,
): Insert[] {
  const waitingFrom = documents - queued
  const openFrom = waitingFrom - notFinal
  const index = `(i - ${openFrom}) % ${blocks}`
  const none = { block: 'CAST(NULL AS bigint)', hash: `hash_of(i, ${NO_BLOCK})` }
  const final: Part = { ...none, from: 0, to: openFrom, block: `i / ${IN_BLOCK}` }
  const open: Part = {
    from: openFrom,
    to: waitingFrom,
    block: `${FIRST_BLOCK} + ${index}`,
    hash: `hash_of(i, ${index})`,
  }
  const waiting: Part = { ...none, from: waitingFrom, to: documents }
  const all = [final, open, waiting]
  return [
    {
      into: 'block',
      parts: payloads === 'embedded' ? all : [],
      columns: ({ hash }) => ({ hash, bytes: 'payload_of(i)' }),
    },
    {
      into: 'history',
      parts: [final],
      columns: ({ hash, block }) => ({
        document_hash: hash,
        block_number: block,
        transaction_hash: `digest_of(${block})`,
      }),
    },
    {
      into: 'document',
      parts: all,
      columns: ({ hash, block }) => ({
        document_hash: hash,
        block_number: block,
        issued_on: 20_000,
        valid_until: EXPIRY,
        subject: 'number_of(i)',
        category: `i % ${CATEGORIES}`,
        tenant: 1,
        created_at: `${FIRST_SECOND} + i * ${SECONDS_APART}`,
      }),
    },
    {
      into: 'intent',
      parts: [open, waiting],
      columns: (part) => ({
        kind: "'issue'",
        document_hash: part.hash,
        valid_until: EXPIRY,
        sealed: payloads === 'embedded' ? 'NULL' : 'payload_of(i)',
        ...(part === open && {
          // One that the measured gateway does not have.
          account: 'bytes_of(1, 20)',
          block_number: part.block,
          block_hash: `bytes_of(${part.block}, 32)`,
          transaction_hash: `digest_of(${part.block})`,
        }),
      }),
    },
    {
      into: 'idempotency',
      parts: [{ ...none, from: 0, to: keys }],
      columns: () => ({
        key: 'digest_of(i)',
        period: `CASE WHEN i < ${expired} THEN ${PERIOD - 2} ELSE ${PERIOD} END`,
        document_hash: 'digest_of(-i)',
      }),
    },
  ]
}

/** What is derived from the rows. */
const DERIVED = `INSERT INTO anchor_block (block_number, block_hash)
  SELECT DISTINCT block_number, block_hash FROM intent WHERE block_number IS NOT NULL`

/** Writes tables at the same time, but each in the order in which documents come in. */
async function fillTables(
  run: (statement: string) => Promise<void>,
  rows: Rows,
  payloads: Payloads = 'embedded',
): Promise<void> {
  const filling = insertsFor(rows, payloads).map(async ({ into, parts, columns }) => {
    for (const part of parts) {
      const names = Object.keys(columns(part)).join(', ')
      const values = Object.values(columns(part)).join(', ')
      for (let { from } = part; from < part.to; from += MAX_ROWS) {
        const numbers = series(from, Math.min(from + MAX_ROWS, part.to))
        await run(`INSERT INTO ${into} (${names}) SELECT ${values} FROM ${numbers}`)
      }
    }
  })
  await Promise.all(filling)
  await run(DERIVED)
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
  hash_of: (i: number, index: number) =>
    Buffer.concat([digestOf(i).subarray(0, 28), bytesOf(index, 4)]),
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
  CREATE FUNCTION hash_of(bigint, bigint) RETURNS bytea IMMUTABLE
    RETURN substr(digest_of($1), 1, 28) || bytes_of($2, 4);
  CREATE FUNCTION payload_of(bigint) RETURNS bytea IMMUTABLE
    RETURN substr(${PAYLOAD.join(' || ')}, 1, ${SEALED_BYTES});`
const DROP_FUNCTIONS = `DROP FUNCTION ${Object.keys(SQLITE_FUNCTIONS).toReversed().join(', ')}`

/** The size of SQLite's cache in KiB, which is large because trees are written in random order. */
const CACHE = 2 * 2 ** 20

/** Creates a SQLite database and fills it. */
export async function fillSqlite(path: string, rows: Rows, payloads?: Payloads): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // Creates the tables.
  await openSqlite(path).close()
  const sqlite = new DatabaseSync(path)
  for (const [name, of] of Object.entries(SQLITE_FUNCTIONS))
    sqlite.function(name, { deterministic: true }, of as (...args: unknown[]) => Uint8Array)
  sqlite.exec(`
    PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA cache_size = -${CACHE}; BEGIN`)
  await fillTables(async (statement) => sqlite.exec(statement), rows, payloads)
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
