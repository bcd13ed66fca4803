import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'

import {
  BLOCK_HASH_FORMAT,
  EXPIRY,
  FIRST_BLOCK,
  FIRST_SECOND,
  NO_BLOCK,
  SECONDS_APART,
} from './pretended.ts'

/** Number of rows of each kind. */
export type Rows = {
  documents: number
  /** Documents on the chain in blocks that are not final. */
  notFinal: number
  /** The number of those blocks. */
  blocks: number
  /** Documents that are promised but not on the chain. */
  queued: number
  /** Digests of idempotency keys. */
  keys: number
  /** The number of these that are expired. */
  expired: number
}

const PERIOD_MS = 7 * 86_400_000
const SEALED_BYTES = 200
/** The number of documents in a final block. */
const IN_BLOCK = 200
const CATEGORIES = 20
/**
 * The size of SQLite's cache in KiB, which is large because the trees are written in random order.
 */
const CACHE = 2 * 2 ** 20

/** @returns Realistic shares for this number of documents. */
export function rowsFor(documents: number): Rows {
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

/**
 * Creates a database as a gateway would leave it after issuing these documents.
 *
 * @param store Where payloads are: all in the database or, for an external store, only those of
 * promises.
 */
export async function fillDatabase(
  path: string,
  rows: Rows,
  store: 'embedded' | 'elsewhere' = 'embedded',
): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // Creates the tables.
  await openSqlite(path).close()
  const sqlite = new DatabaseSync(path)
  sqlite.exec(`
    PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA cache_size = -${CACHE}; BEGIN`)
  fillDocuments(sqlite, rows, store)
  fillIdempotencyKeys(sqlite, rows)
  sqlite.exec('COMMIT')
  sqlite.close()
  flush(path)
}

/** Flushes a file to disk, so that later measurements do not wait for its pages. */
export function flush(path: string): void {
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

/** The last documents are queued; the ones before them are not final yet. */
function fillDocuments(sqlite: DatabaseSync, rows: Rows, store: 'embedded' | 'elsewhere'): void {
  const notFinalFrom = rows.documents - rows.queued - rows.notFinal
  const queuedFrom = rows.documents - rows.queued
  sqlite.exec(`
    WITH RECURSIVE one (i) AS (
      SELECT 0 WHERE ${rows.documents} > 0 UNION ALL
      SELECT i + 1 FROM one WHERE i + 1 < ${rows.documents})
    INSERT INTO block (rowid, hash, bytes) SELECT i + 1,
      unhex(hex(randomblob(28)) || printf('%08x', iif(
        i >= ${notFinalFrom} AND i < ${queuedFrom},
        (i - ${notFinalFrom}) % ${rows.blocks}, ${NO_BLOCK}))),
      randomblob(${SEALED_BYTES})
    FROM one;

    INSERT INTO history (document_hash, block_number, transaction_hash)
    SELECT hash, id / ${IN_BLOCK}, unhex(printf('%064x', id / ${IN_BLOCK}))
    FROM (SELECT rowid - 1 AS id, hash, bytes FROM block) WHERE id < ${notFinalFrom};

    INSERT INTO document (document_hash, block_number, issued_on, valid_until, subject, category,
      tenant, created_at)
    SELECT hash, iif(id < ${queuedFrom}, id / ${IN_BLOCK}, NULL), 20000, ${EXPIRY}, random(),
      id % ${CATEGORIES}, 1, ${FIRST_SECOND} + id * ${SECONDS_APART}
    FROM (SELECT rowid - 1 AS id, hash FROM block);

    INSERT INTO intent (kind, document_hash, valid_until, sealed,
      block_number, block_hash, transaction_hash)
    SELECT 'issue', hash, ${EXPIRY}, iif(${store === 'embedded'}, NULL, bytes),
      ${FIRST_BLOCK} + (id - ${notFinalFrom}) % ${rows.blocks},
      unhex(substr(printf('${BLOCK_HASH_FORMAT}', ${FIRST_BLOCK} + (id - ${notFinalFrom}) % ${rows.blocks}), 3)),
      unhex(printf('%064x', id))
    FROM (SELECT rowid - 1 AS id, hash, bytes FROM block) WHERE id >= ${notFinalFrom} AND id < ${queuedFrom};

    INSERT INTO intent (kind, document_hash, valid_until, sealed)
    SELECT 'issue', hash, ${EXPIRY}, iif(${store === 'embedded'}, NULL, bytes)
    FROM (SELECT rowid - 1 AS id, hash, bytes FROM block) WHERE id >= ${queuedFrom};

    INSERT INTO anchor_block (block_number, block_hash)
    SELECT DISTINCT block_number, block_hash FROM intent WHERE block_number IS NOT NULL`)
  if (store === 'elsewhere') sqlite.exec('DELETE FROM block')
}

function fillIdempotencyKeys(sqlite: DatabaseSync, { keys, expired }: Rows): void {
  const period = Math.floor(Date.now() / PERIOD_MS)
  sqlite.exec(`
    WITH RECURSIVE one (i) AS (
      SELECT 0 WHERE ${keys} > 0 UNION ALL SELECT i + 1 FROM one WHERE i + 1 < ${keys})
    INSERT INTO idempotency (key, period, document_hash)
    SELECT randomblob(32), iif(i < ${expired}, ${period - 2}, ${period}), randomblob(32) FROM one`)
}
