import { fromHex, type Hex, toHex } from '#document/hex.ts'
import type { BatchDrafts, DraftBlock, DraftDocument, KnownBatch } from '#promise/batch-log.ts'
import { type Locks, lockOfBatch } from '#promise/lock.ts'
import { addBatch } from './batches.ts'
import type { Database } from './database.ts'
import { partsOf } from './mirror.ts'
import { deletePayloads, erasedOf, insertPayloads } from './payloads.ts'
import { insertRecords } from './records.ts'
import { all, type Row, statement, type Work } from './sql.ts'

/** The number of rows that one write adds or deletes, which takes some milliseconds. */
const ROWS_A_WRITE = 128
const ROWS_A_DELETE = 500
/** Younger batches may belong to a request on which another gateway works. */
const ABANDONED_AFTER_SECONDS = 3_600

const NOTE = statement(`
  INSERT INTO batch_draft (request, hashes, batch) VALUES (:request, :hashes, :batch)`)
const SELECT_REQUESTS = statement('SELECT DISTINCT request FROM batch_draft')
const SELECT_ABANDONED = statement(
  (sql) => `
    SELECT id FROM batch
    WHERE NOT promised AND created_at <= ${sql.now} - CAST(:age AS integer)`,
)

/**
 * Stores what requests of batches need before they are promised. A row names exactly the blocks that
 * were inserted with it, so nothing is deleted that belongs to a promise.
 *
 * @param locks The locks of requests. A draft whose lock is free has no owner.
 */
export function createBatchDrafts(
  database: Database,
  { locks, isSole }: { locks: Locks; isSole: boolean },
): BatchDrafts {
  const discard = createDiscard(database)

  /** @returns Whether no gateway works on the request. */
  async function discardIfFree(request: Uint8Array): Promise<boolean> {
    const lock = await locks.take(lockOfBatch(toHex(request)))
    if (lock === undefined) return false
    try {
      await discard(request)
    } finally {
      await lock.release().catch(() => {})
    }
    return true
  }

  return {
    async put(request, blocks) {
      await Promise.all(
        inParts(blocks, ROWS_A_WRITE).map((some) => database.write(() => putBlocks(request, some))),
      )
    },
    async index(request, batch, documents) {
      // This comes first and alone, because a batch is added once.
      await database.write(() => noteBatch(request, batch))
      const erased = await Promise.all(
        inParts(documents, ROWS_A_WRITE).map((some) =>
          database.write(() => indexDocuments(batch, some)),
        ),
      )
      return new Set(erased.flatMap((some) => [...some]))
    },
    discard,
    async discardAll(signal) {
      let discarded = 0
      for (const { request } of await database.read(SELECT_REQUESTS))
        if (!signal.aborted && (await discardIfFree(request as Uint8Array))) discarded++
      const age = isSole ? 0 : ABANDONED_AFTER_SECONDS
      for (const { id } of await database.read(SELECT_ABANDONED, { age }))
        if (!signal.aborted) await deleteBatch(database, Number(id))
      return discarded
    },
  }
}

function inParts<T>(items: readonly T[], size: number): (readonly T[])[] {
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, i) => items.slice(i * size, (i + 1) * size))
}

function* putBlocks(request: Uint8Array, blocks: readonly DraftBlock[]): Work<void> {
  const inserted = yield* insertPayloads(blocks)
  if (inserted.size === 0) return
  yield* all(NOTE, { request, hashes: Buffer.concat([...inserted].map(fromHex)) })
}

function* noteBatch(request: Uint8Array, batch: Omit<KnownBatch, 'id'>): Work<void> {
  const { id, isNew } = yield* addBatch(batch)
  if (isNew) yield* all(NOTE, { request, batch: id })
}

/** @returns The documents that have been erased. */
function* indexDocuments(
  batch: Omit<KnownBatch, 'id'>,
  documents: readonly DraftDocument[],
): Work<Set<Hex>> {
  const { id } = yield* addBatch(batch)
  yield* insertRecords(documents.map((one) => ({ ...one, batch: id })))
  return yield* erasedOf(documents.map(({ documentHash }) => fromHex(documentHash)))
}

const IS_PROMISED = statement('SELECT 1 FROM batch_request WHERE request = :request AND promised')
const SELECT_NEXT = statement(
  'SELECT id, hashes, batch FROM batch_draft WHERE request = :request LIMIT 1',
)
const FORGET = statement('DELETE FROM batch_draft WHERE id = :id')
const FORGET_SOME = statement(`
  DELETE FROM batch_draft WHERE id IN (
    SELECT id FROM batch_draft WHERE request = :request LIMIT ${ROWS_A_DELETE}) RETURNING id`)

/**
 * Deletes the rows of a request, and what they name unless its batch is promised. Each step is one
 * transaction, so a kill leaves rows that name the rest.
 */
function createDiscard(database: Database): BatchDrafts['discard'] {
  const forgetSome = (request: Uint8Array) => database.change(FORGET_SOME, { request })
  return async (request) => {
    // Once it is promised, it stays so.
    if ((await database.read(IS_PROMISED, { request })).length > 0)
      while ((await forgetSome(request)).length > 0) {}
    for (;;) {
      const [row] = await database.read(SELECT_NEXT, { request })
      if (!row) return
      if (row.batch !== null) await deleteBatch(database, Number(row.batch))
      await database.write(() => discardRow(row))
    }
  }
}

function* discardRow({ id, hashes }: Row): Work<void> {
  if (hashes !== null) yield* deletePayloads(partsOf(hashes as Uint8Array))
  yield* all(FORGET, { id })
}

const DELETE_DOCUMENTS = statement(`
  DELETE FROM record WHERE id IN (
    SELECT id FROM record WHERE batch = :id LIMIT ${ROWS_A_DELETE}) RETURNING id`)
const DELETE_BATCH = statement('DELETE FROM batch WHERE id = :id AND NOT promised')

/** Deletes a batch that was never promised, or will never be anchored, from the index. */
async function deleteBatch(database: Database, id: number): Promise<void> {
  while ((await database.change(DELETE_DOCUMENTS, { id })).length > 0) {}
  await database.change(DELETE_BATCH, { id })
}
