import { fromHex, type Hex } from '#document/hex.ts'
import type { DocumentIndex, IndexEntry, OwnedDocument } from '#promise/document-index.ts'
import type { Database } from './database.ts'
import { COLUMNS, documentOf, IS_PROMISED, readPage } from './index-pages.ts'
import { bytesOf, each, hexOrNull, type Row, statement, type Work } from './sql.ts'
import { insertItems, KEPT_STATUSES } from './tables.ts'

// Blind indexes have 64 bits, which is more than a number can represent.
const FIND = statement(`
  SELECT ${COLUMNS}, valid_until, CAST(tenant AS text) AS tenant,
    CAST(category AS text) AS category,
    (SELECT whole.root FROM batch AS whole WHERE whole.id = batch) AS root
  FROM document WHERE document_hash = :hash AND ${IS_PROMISED} LIMIT 1`)
const SELECT_FIRST = statement('SELECT first FROM document_index')
const CORRECT = statement(
  (sql) => `
    UPDATE document SET status = item.status
    FROM ${sql.items({ hash: 'bytes', status: 'integer' })} WHERE document_hash = item.hash`,
)

/** The index of documents. */
export function createDocumentIndex(database: Database): DocumentIndex {
  return {
    page: (wanted) => database.snapshot(() => readPage(wanted)),
    async find(documentHash) {
      const [row] = await database.read(FIND, { hash: fromHex(documentHash) })
      return row && ownedOf(row)
    },
    async isDropped(place) {
      const [row] = await database.read(SELECT_FIRST)
      return place < Number(row?.first ?? 0)
    },
    async correct(found) {
      if (found.length === 0) return
      await database.change(
        CORRECT,
        {},
        found.map(({ documentHash, status }) => ({
          hash: fromHex(documentHash),
          status: KEPT_STATUSES.indexOf(status),
        })),
      )
    },
  }
}

/**
 * @param row A row with blind indexes as text, because they have 64 bits, more than a number can
 * represent.
 */
function ownedOf(row: Row): OwnedDocument {
  return {
    ...documentOf(row),
    validUntil: Number(row.valid_until),
    tenant: row.tenant === null ? null : BigInt(row.tenant as string),
    category: row.category === null ? null : BigInt(row.category as string),
    root: hexOrNull(row.root),
  }
}

/** A document for the index. */
type NewEntry = {
  documentHash: Hex
  entry: IndexEntry
  /** `null` while it is pending. */
  blockNumber: number | null
  /** The id of its batch, which knows the block. */
  batch?: number
  actor?: string | undefined
}

/** The columns that an entry fills. */
export const ENTRY_COLUMNS = `document_hash, batch_block, batch, block_number, issued_on, \
valid_until, subject, category, tenant, actor`

const INSERT = statement(
  (sql) => `
    ${insertItems(sql, 'document', ENTRY_COLUMNS, {
      computed: { created_at: `CASE WHEN item.batch IS NULL THEN ${sql.now} END` },
    })}
    WHERE item.batch IS NOT NULL
      OR NOT EXISTS (SELECT 1 FROM document WHERE document.document_hash = item.document_hash)
    ORDER BY place
    ON CONFLICT DO NOTHING ${sql.added('document_hash')}`,
)
const OWN = statement(
  (sql) => `
    UPDATE document SET tenant = item.tenant
    FROM ${sql.items({ hash: 'bytes', tenant: 'integer' })}
    WHERE document_hash = item.hash AND document.tenant IS NULL`,
)

/**
 * Adds documents to the index, unless it already has them; those of a batch, in that batch. An
 * entry of an unknown tenant gets this tenant, because nobody else's request leads to its hash.
 */
export function* insertDocuments(documents: readonly NewEntry[]): Work<void> {
  const added = yield* each(
    INSERT,
    documents.map(({ documentHash, entry, blockNumber, batch = null, actor }) => ({
      document_hash: fromHex(documentHash),
      batch_block: bytesOf(entry.batchBlock),
      batch,
      block_number: blockNumber,
      issued_on: entry.issuedOn,
      valid_until: entry.validUntil,
      subject: entry.subject,
      category: entry.category,
      tenant: entry.tenant,
      actor,
    })),
  )
  if (added.length < documents.length)
    yield* each(
      OWN,
      documents.map(({ documentHash, entry }) => ({
        hash: fromHex(documentHash),
        tenant: entry.tenant,
      })),
    )
}
