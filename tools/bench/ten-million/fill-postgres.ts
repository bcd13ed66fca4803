import pg from 'pg'
import { createSchema } from '#store/drivers/postgres/schema.ts'

import type { Rows } from './fill.ts'
import { EXPIRY, FIRST_BLOCK, FIRST_SECOND, NO_BLOCK, SECONDS_APART } from './pretended.ts'

const PERIOD_MS = 7 * 86_400_000
const SEALED_BYTES = 200
/** The number of documents in a final block. */
const IN_BLOCK = 200
const CATEGORIES = 20
/** An account that the measured gateway does not have. */
const ACCOUNT = '\\xacc0'
/** The maximum number of rows that one statement writes. */
const MAX_ROWS = 500_000

/**
 * Fills an empty PostgreSQL database as gateways would leave it after issuing these documents, all
 * with the payload in the database. Rows and indexes are written in the order in which documents
 * come in, so that they take as much space as they would.
 */
export async function fillPostgres(url: string, rows: Rows): Promise<void> {
  await createSchema(url)
  // Each runs on its own connection, because the hashes of a number are the same everywhere.
  await Promise.all([
    inSteps(url, rows.documents, (range) => [payloads(range, rows), outbox(range, rows)]),
    inSteps(url, rows.documents, (range) => [index(range, rows)]),
    inSteps(url, rows.documents, (range) => [history(range, rows)]),
    inSteps(url, rows.keys, (range) => [idempotency(range, rows)]),
  ])
  await run(url, [
    `INSERT INTO anchor_block (block_number, block_hash)
     SELECT DISTINCT block_number, block_hash FROM intent WHERE block_number IS NOT NULL`,
  ])
  // This is what autovacuum does in the months in which a database really fills up.
  await run(url, ['VACUUM (ANALYZE, FREEZE)', 'CHECKPOINT'])
}

/** A condition on the number `i`. */
type Range = string

async function inSteps(url: string, count: number, statements: (range: Range) => string[]) {
  for (let from = 0; from < count; from += MAX_ROWS)
    await run(url, statements(`generate_series(${from}, ${Math.min(from + MAX_ROWS, count) - 1})`))
}

async function run(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('SET synchronous_commit = off')
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** @returns The numbers from which documents are not final, and from which they are queued. */
function limitsOf({ documents, queued, notFinal }: Rows) {
  return { notFinalFrom: documents - queued - notFinal, queuedFrom: documents - queued }
}

/** SQL for the place of document `i` among the pretended blocks. */
const placeOf = (rows: Rows) => `(i - ${limitsOf(rows).notFinalFrom}) % ${rows.blocks}`

const isNotFinal = (rows: Rows) =>
  `i >= ${limitsOf(rows).notFinalFrom} AND i < ${limitsOf(rows).queuedFrom}`

/** SQL for the block of document `i`; NULL for a queued one. */
const blockOf = (rows: Rows) => `CASE
  WHEN i >= ${limitsOf(rows).queuedFrom} THEN NULL
  WHEN ${isNotFinal(rows)} THEN ${FIRST_BLOCK} + ${placeOf(rows)}
  ELSE i / ${IN_BLOCK} END`

/** SQL for the hash of document `i`, which ends with the index of its block. */
const hashOf = (rows: Rows) => `substr(sha256(int8send(i)), 1, 28) || substr(int8send(
  CASE WHEN ${isNotFinal(rows)} THEN ${placeOf(rows)} ELSE ${NO_BLOCK} END), 5)`

const series = (range: Range) => `${range} AS one (i)`

function payloads(range: Range, rows: Rows): string {
  const random = Array.from(
    { length: Math.ceil(SEALED_BYTES / 32) },
    (_, part) => `sha256(int8send(i * 8 + ${part}))`,
  )
  return `INSERT INTO block
    SELECT ${hashOf(rows)}, substr(${random.join(' || ')}, 1, ${SEALED_BYTES})
    FROM ${series(range)}`
}

function outbox(range: Range, rows: Rows): string {
  return `INSERT INTO intent (account, kind, document_hash, valid_until,
      block_number, block_hash, transaction_hash)
    SELECT ${accountOf(rows)}, 'issue', ${hashOf(rows)}, ${EXPIRY}, block,
      CASE WHEN block IS NULL THEN '' ELSE decode(lpad(block::text, 64, '0'), 'hex') END,
      CASE WHEN block IS NULL THEN NULL ELSE sha256(int8send(block)) END
    FROM ${series(range)}, LATERAL (SELECT (${blockOf(rows)})::bigint AS block) AS place
    WHERE i >= ${limitsOf(rows).notFinalFrom}`
}

/** SQL for the account of document `i`; NULL for a queued one, which any account may take. */
const accountOf = (rows: Rows) =>
  `CASE WHEN i < ${limitsOf(rows).queuedFrom} THEN '${ACCOUNT}'::bytea END`

function history(range: Range, rows: Rows): string {
  return `INSERT INTO history
    SELECT block, ${hashOf(rows)}, sha256(int8send(block))
    FROM ${series(range)}, LATERAL (SELECT (${blockOf(rows)})::bigint AS block) AS place
    WHERE block IS NOT NULL`
}

function index(range: Range, rows: Rows): string {
  return `INSERT INTO document
      (document_hash, block_number, issued_on, valid_until, subject, category, tenant, created_at)
    SELECT ${hashOf(rows)}, ${blockOf(rows)}, 20000, ${EXPIRY},
      ('x' || encode(substr(sha256(int8send(-i)), 1, 8), 'hex'))::bit(64)::bigint,
      i % ${CATEGORIES}, 1, ${FIRST_SECOND} + i * ${SECONDS_APART}
    FROM ${series(range)}`
}

function idempotency(range: Range, { expired }: Rows): string {
  const period = Math.floor(Date.now() / PERIOD_MS)
  return `INSERT INTO idempotency
    SELECT sha256(int8send(i)), CASE WHEN i < ${expired} THEN ${period - 2} ELSE ${period} END,
      sha256(int8send(-i))
    FROM ${series(range)}`
}
