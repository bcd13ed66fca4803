import { fromHex, type Hex } from '#document/hex.ts'
import type { IndexEntry } from '#promise/document-index.ts'
import { bytesOf } from '../columns.ts'
import { CREATED_AT } from '../created-days.ts'
import type { Query } from '../drivers/postgres/query.ts'

/** Whether a document is in no batch, or in one that was promised. */
export const IS_PROMISED =
  '(batch IS NULL OR batch NOT IN (SELECT id FROM batch WHERE NOT promised))'

export const COLUMNS = `id, document_hash, batch_block, status, CASE WHEN batch IS NULL
  THEN block_number
  ELSE (SELECT whole.block_number FROM batch AS whole WHERE whole.id = batch) END AS block_number,
  ${CREATED_AT} AS created_at`

/** Seconds of the Unix epoch at the start of the transaction. */
export const NOW = 'floor(extract(epoch FROM now()))::bigint'

/** A document for the index. */
type NewEntry = {
  documentHash: Hex
  entry: IndexEntry
  /** `null` while it is pending. */
  blockNumber: number | null
  /** The id of its batch, which knows the block. */
  batch?: number
}

/**
 * Adds documents to the index, unless it has them already: those of a batch, in that batch.
 * One that it has of an unknown tenant gets this one, since nobody else's request leads to its
 * hash.
 */
export async function insertDocuments(query: Query, documents: readonly NewEntry[]): Promise<void> {
  const hashes = documents.map(({ documentHash }) => fromHex(documentHash))
  const tenants = documents.map(({ entry }) => entry.tenant)
  const [added] = await query(
    `WITH added AS (
       INSERT INTO document (document_hash, batch_block, batch, block_number, issued_on,
         valid_until, subject, category, tenant, created_at)
       SELECT hash, batch_block, batch, block, issued_on, valid_until, subject, category, tenant,
         CASE WHEN batch IS NULL THEN ${NOW} END
       FROM unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::bigint[], $5::integer[],
         $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[]) WITH ORDINALITY
         AS item (hash, batch_block, batch, block, issued_on, valid_until, subject, category, tenant,
           place)
       WHERE item.batch IS NOT NULL
         OR NOT EXISTS (SELECT 1 FROM document WHERE document.document_hash = item.hash)
       ORDER BY place
       ON CONFLICT DO NOTHING RETURNING 1)
     SELECT count(*) AS count FROM added`,
    [
      hashes,
      documents.map(({ entry }) => bytesOf(entry.batchBlock)),
      documents.map(({ batch = null }) => batch),
      documents.map(({ blockNumber }) => blockNumber),
      documents.map(({ entry }) => entry.issuedOn),
      documents.map(({ entry }) => entry.validUntil),
      documents.map(({ entry }) => entry.subject),
      documents.map(({ entry }) => entry.category),
      tenants,
    ],
  )
  if (Number(added?.count) === documents.length) return
  await query(
    `UPDATE document SET tenant = item.tenant
     FROM unnest($1::bytea[], $2::bigint[]) AS item (hash, tenant)
     WHERE document_hash = item.hash AND document.tenant IS NULL`,
    [hashes, tenants],
  )
}
