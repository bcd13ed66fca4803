import { fromHex } from '#document/hex.ts'
import type { DocumentIndex } from '#promise/document-index.ts'
import type { Postgres } from './database.ts'
import { COLUMNS, IS_PROMISED, KEPT_STATUSES, ownedOf } from './index-documents.ts'
import { createIndexReader } from './index-pages.ts'

/** The index of documents in PostgreSQL. */
export function createPostgresDocumentIndex(database: Postgres): DocumentIndex {
  const { query } = database
  return {
    page: createIndexReader(database),
    async find(documentHash) {
      // Blind indexes have 64 bits, more than a number.
      const [row] = await query(
        `SELECT ${COLUMNS}, valid_until, tenant::text, category::text,
           (SELECT whole.root FROM batch AS whole WHERE whole.id = batch) AS root
         FROM document WHERE document_hash = $1 AND ${IS_PROMISED} LIMIT 1`,
        [fromHex(documentHash)],
      )
      return row && ownedOf(row)
    },
    async isDropped(place) {
      const [row] = await query('SELECT first FROM document_index')
      return place < Number(row?.first ?? 0)
    },
    async correct(found) {
      await query(
        `UPDATE document SET status = item.status
         FROM unnest($1::bytea[], $2::smallint[]) AS item (hash, status)
         WHERE document_hash = item.hash`,
        [
          found.map(({ documentHash }) => fromHex(documentHash)),
          found.map(({ status }) => KEPT_STATUSES.indexOf(status)),
        ],
      )
    },
  }
}
