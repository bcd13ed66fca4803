import { fromHex, type Hex, toHex } from '../../../document/hex.ts'
import type {
  DocumentIndex,
  IndexEntry,
  IndexedDocument,
  KeptStatus,
} from '../../document-index.ts'
import type { Database } from './database.ts'
import { createIndexReader } from './index-pages.ts'

/** The statuses as the table has them; see the schema. */
export const KEPT_STATUSES = [null, 'suspended', 'revoked', 'superseded', 'distrusted'] as const

/** A document for the index. */
export type NewEntry = {
  documentHash: Hex
  entry: IndexEntry
  /** `null` while it is pending. */
  blockNumber: number | null
  status?: KeptStatus | null
}

export type SqliteDocumentIndex = DocumentIndex & {
  /**
   * Adds a document, unless the index has it already. For use within a write. What the outbox does
   * to it later, triggers write.
   */
  insert(document: NewEntry): void
}

const COLUMNS = 'id, document_hash, batch_block, block_number, status'
/** Finds a document by its hash: the index has the first 8 bytes. */
export const BY_HASH = 'substr(document_hash, 1, 8) = substr(?1, 1, 8) AND document_hash = ?1'

/** The index of documents in the gateway's database. */
export function createSqliteDocumentIndex(database: Database): SqliteDocumentIndex {
  const { sqlite, write } = database
  const select = sqlite.prepare(`
    SELECT ${COLUMNS}, tenant IN (SELECT value FROM json_each(?2)) AS fits
    FROM document WHERE ${BY_HASH}`)
  const selectFirst = sqlite.prepare('SELECT first FROM document_index')
  const correct = sqlite.prepare(`UPDATE document SET status = ?2 WHERE ${BY_HASH}`)

  return {
    insert: createInsertDocument(database),
    page: createIndexReader(sqlite, COLUMNS, documentOf),
    async find(documentHash, tenant) {
      const row = select.get(fromHex(documentHash), jsonOf(tenant ?? []))
      return row && (tenant === undefined || row.fits === 1) ? documentOf(row) : undefined
    },
    isDropped: async (place) => place < Number(selectFirst.get()?.first ?? 0),
    correct: (found) =>
      write(() => {
        for (const { documentHash, status } of found)
          correct.run(fromHex(documentHash), KEPT_STATUSES.indexOf(status))
      }),
  }
}

/** @returns `insert`; see `SqliteDocumentIndex`. */
export function createInsertDocument({ sqlite }: Database): SqliteDocumentIndex['insert'] {
  const insert = sqlite.prepare(`
    INSERT INTO document (document_hash, batch_block, block_number, status, issued_on, valid_until,
      subject, category, tenant)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
    WHERE NOT EXISTS (SELECT 1 FROM document WHERE ${BY_HASH})`)

  return ({ documentHash, entry, blockNumber, status = null }) => {
    const { issuedOn, validUntil, subject, category, tenant, batchBlock } = entry
    insert.run(
      fromHex(documentHash),
      batchBlock === undefined ? null : fromHex(batchBlock),
      ...[blockNumber, KEPT_STATUSES.indexOf(status), issuedOn, validUntil],
      ...[subject, category, tenant],
    )
  }
}

/** JSON numbers of 64 bits, which SQLite reads exactly. */
function jsonOf(values: readonly bigint[]): string {
  return `[${values.join(',')}]`
}

function documentOf(row: Record<string, unknown>): IndexedDocument {
  return {
    place: Number(row.id),
    documentHash: toHex(row.document_hash as Uint8Array),
    batchBlock: row.batch_block === null ? null : toHex(row.batch_block as Uint8Array),
    blockNumber: row.block_number as number | null,
    status: KEPT_STATUSES[Number(row.status)] ?? null,
  }
}
