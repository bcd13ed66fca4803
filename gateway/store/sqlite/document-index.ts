import type { DatabaseSync } from 'node:sqlite'
import { fromHex, type Hex } from '#document/hex.ts'
import type { DocumentIndex, IndexEntry } from '#promise/document-index.ts'
import { bytesOf } from '../columns.ts'
import { CREATED_AT } from '../created-days.ts'
import type { Database } from '../drivers/sqlite/database.ts'
import { documentOf, ownedOf } from '../rows.ts'
import { KEPT_STATUSES } from '../rules.ts'
import { IS_PROMISED } from './index-batches.ts'
import { createIndexReader } from './index-pages.ts'
import { isDocument } from './schema.ts'
import { createMergeKeys, KEY_KINDS } from './sorted-keys.ts'

/** A document for the index. */
type NewEntry = {
  documentHash: Hex
  entry: IndexEntry
  /** `null` while it is pending. */
  blockNumber: number | null
  /** The id of its batch, which knows the block. */
  batch?: number | null
}

type SqliteDocumentIndex = DocumentIndex & {
  /**
   * Adds a document, unless the index has it already: then one of an unknown tenant gets this one,
   * since nobody else's request leads to its hash. For use within a write. What the outbox does to
   * it later, triggers write.
   */
  insert(document: NewEntry): void
  /** `insert` of a document that the index cannot have yet: it does not look for it. */
  insertNew(document: NewEntry): void
}

const COLUMNS = `id, document_hash, batch_block, status, iif(batch IS NULL, block_number,
  (SELECT whole.block_number FROM batch AS whole WHERE whole.id = batch)) AS block_number,
  ${CREATED_AT} AS created_at`
/** A condition on `document_by_key`: the document has the hash `?1`. */
const IS_DOCUMENT = isDocument('?1')
/** A condition on `document`, likewise. */
export const BY_HASH = `id IN (SELECT id FROM document_by_key WHERE ${IS_DOCUMENT})`

/** The index of documents in the gateway's database. */
export function createSqliteDocumentIndex(database: Database): SqliteDocumentIndex {
  const { sqlite, write } = database
  // Blind indexes have 64 bits, more than a number.
  const select = sqlite.prepare(`
    SELECT ${COLUMNS}, valid_until, CAST(tenant AS TEXT) AS tenant,
      CAST(category AS TEXT) AS category,
      (SELECT whole.root FROM batch AS whole WHERE whole.id = batch) AS root
    FROM document_by_key WHERE ${IS_DOCUMENT} AND ${IS_PROMISED} LIMIT 1`)
  const selectFirst = sqlite.prepare('SELECT first FROM document_index')
  const correct = sqlite.prepare(`UPDATE document SET status = ?2 WHERE ${BY_HASH}`)

  return {
    ...createInsertDocument(database),
    page: createIndexReader(sqlite, COLUMNS, documentOf),
    async find(documentHash) {
      const row = select.get(fromHex(documentHash))
      return row && ownedOf(row)
    },
    isDropped: async (place) => place < Number(selectFirst.get()?.first ?? 0),
    correct: (found) =>
      write(() => {
        for (const { documentHash, status } of found)
          correct.run(fromHex(documentHash), KEPT_STATUSES.indexOf(status))
      }),
  }
}

export function createInsertDocument({
  sqlite,
}: Database): Pick<SqliteDocumentIndex, 'insert' | 'insertNew'> {
  const has = sqlite.prepare(`SELECT 1 FROM document_by_key WHERE ${IS_DOCUMENT} LIMIT 1`)
  const own = sqlite.prepare(`UPDATE document SET tenant = ?2 WHERE ${BY_HASH} AND tenant IS NULL`)
  const addRow = sqlite.prepare(`
    INSERT INTO document (document_hash, batch_block, block_number, status, issued_on, valid_until,
      subject, category, tenant, batch, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?10, iif(?10 IS NULL, unixepoch(), NULL))`)
  const mergeKeys = createMergeDocumentKeys(sqlite)

  function insertNew(document: NewEntry): void {
    const { documentHash, entry, blockNumber, batch = null } = document
    const { issuedOn, validUntil, subject, category, tenant, batchBlock } = entry
    const { lastInsertRowid } = addRow.run(
      fromHex(documentHash),
      bytesOf(batchBlock),
      ...[blockNumber, KEPT_STATUSES.indexOf(null), issuedOn, validUntil],
      ...[subject, category, tenant, batch],
    )
    mergeKeys(lastInsertRowid)
  }

  return {
    insertNew,
    insert(document) {
      const hash = fromHex(document.documentHash)
      if (has.get(hash) === undefined) insertNew(document)
      else own.run(hash, document.entry.tenant)
    },
  }
}

/** See `createMergeKeys`, for both keys of a document. */
export function createMergeDocumentKeys(sqlite: DatabaseSync): (added: number | bigint) => void {
  const merges = [KEY_KINDS.document, KEY_KINDS.subject].map((kind) =>
    createMergeKeys(sqlite, kind),
  )
  return (added) => {
    for (const merge of merges) merge(added)
  }
}
