import { fromHex, type Hex } from '#document/hex.ts'
import { bytesOf, hexOf } from '../columns.ts'
import type { IndexRebuild, Rebuilt } from '../command-database.ts'
import type { Database } from '../drivers/sqlite/database.ts'
import { KEPT_STATUSES } from '../rules.ts'
import { BY_HASH, createInsertDocument, createMergeDocumentKeys } from './document-index.ts'
import { KEY_KINDS, retireKeys } from './sorted-keys.ts'

/** Documents in one write. */
const CHUNK = 500

/** @param blindTenant The blind index that documents of an unknown tenant get. */
export function createIndexRebuild(database: Database, blindTenant: bigint | null): IndexRebuild {
  const { sqlite, write } = database
  const lastOld = Number(sqlite.prepare('SELECT max(id) AS id FROM document').get()?.id ?? 0)
  const selectAnchored = sqlite.prepare(`
    SELECT block_number AS blockNumber, document_hash AS hash FROM history
    WHERE (block_number, document_hash) > (?1, ?2)
    ORDER BY block_number, document_hash LIMIT ${CHUNK}`)
  const selectPending = sqlite.prepare(`
    SELECT document_hash AS documentHash, valid_until AS validUntil FROM intent
    WHERE kind = 'issue' AND root IS NULL AND block_number IS NULL ORDER BY id`)
  const replace = createReplace(database, blindTenant)
  // Their batch is not among the documents of the history.
  const keepBatches = sqlite.prepare(`
    INSERT INTO document (document_hash, batch_block, batch, block_number, status, issued_on,
      valid_until, subject, category, tenant, created_at)
    SELECT document_hash, batch_block, batch, block_number, status, issued_on, valid_until, subject,
      category, coalesce(tenant, ?2), created_at
    FROM document WHERE batch_block IS NOT NULL AND id <= ?1 ORDER BY id`)
  const deleteBatches = sqlite.prepare(
    'DELETE FROM document WHERE batch_block IS NOT NULL AND id <= ?',
  )
  const deleteOld = sqlite.prepare('DELETE FROM document WHERE id <= ?')
  const selectIncomplete = sqlite.prepare(`
    SELECT id, manifest, tenant FROM batch
    WHERE promised = 1 AND size > (SELECT count(*) FROM document WHERE document.batch = batch.id)
    ORDER BY id`)
  const selectUndated = sqlite.prepare(`
    SELECT root FROM batch
    WHERE promised = 1 AND promised_at IS NULL AND block_number IS NOT NULL`)
  const date = sqlite.prepare('UPDATE batch SET promised_at = ? WHERE root = ?')
  const documents = createInsertDocument(database)

  return {
    anchoredAfter: async (place) =>
      selectAnchored
        .all(place?.blockNumber ?? -1, place ? fromHex(place.documentHash) : new Uint8Array(0))
        .map(({ blockNumber, hash }) => ({
          blockNumber: Number(blockNumber),
          documentHash: hexOf(hash),
        })),
    pending: async () => selectPending.all() as { documentHash: Hex; validUntil: number }[],
    // No gateway runs.
    async see() {},
    replace: (documents) => write(() => documents.forEach(replace)),
    ownBatches: (name) =>
      write(() => {
        const own = sqlite.prepare("UPDATE batch SET tenant = ? WHERE tenant = ''")
        return Number(own.run(name).changes)
      }),
    undatedBatches: async () => selectUndated.all().map(({ root }) => hexOf(root)),
    dateBatch: (root, time) => write(() => void date.run(time, fromHex(root))),
    incompleteBatches: async () =>
      selectIncomplete.all().map(({ id, manifest, tenant }) => ({
        id: Number(id),
        manifest: hexOf(manifest),
        tenant: tenant as string,
      })),
    addToBatch: (id, some) =>
      write(() => {
        for (const { documentHash, entry } of some)
          documents.insert({ documentHash, entry, blockNumber: null, batch: id })
      }),
    end: () =>
      write(() => {
        keepBatches.run(lastOld, blindTenant)
        deleteBatches.run(lastOld)
        const { changes } = deleteOld.run(lastOld)
        retireKeys(sqlite, [KEY_KINDS.document, KEY_KINDS.subject], lastOld)
        sqlite.exec('DELETE FROM document_index')
        sqlite.prepare('INSERT INTO document_index VALUES (?)').run(lastOld + 1)
        return Number(changes)
      }),
  }
}

function createReplace(
  { sqlite }: Database,
  blindTenant: bigint | null,
): (document: Omit<Rebuilt, 'batch'> & { batch?: number | null }) => void {
  const insert = sqlite.prepare(`
    INSERT INTO document (document_hash, batch_block, block_number, status, issued_on, valid_until,
      subject, category, tenant, batch, created_at)
    SELECT ?1, coalesce(?9, old.batch_block), ?2, ?3, coalesce(?4, old.issued_on, 0), ?5,
      coalesce(?6, old.subject), coalesce(?7, old.category), coalesce(old.tenant, ?8),
      coalesce(?10, old.batch), coalesce(old.created_at, ?11)
    FROM (SELECT 1) LEFT JOIN document AS old ON old.${BY_HASH}`)
  const mergeKeys = createMergeDocumentKeys(sqlite)
  const deleteOlder = sqlite.prepare(`DELETE FROM document WHERE ${BY_HASH} AND id < ?2`)
  const link = sqlite.prepare(`
    INSERT INTO succession (document_hash, successor_hash, revoked) VALUES (?, ?, 1)
    ON CONFLICT DO NOTHING`)

  return ({ documentHash, blockNumber, blockTime = null, batch = null, ...rest }): void => {
    const { validUntil, status, entry } = rest
    const hash = fromHex(documentHash)
    const { lastInsertRowid } = insert.run(
      ...[hash, blockNumber, KEPT_STATUSES.indexOf(status), entry?.issuedOn ?? null, validUntil],
      ...[entry?.subject ?? null, entry?.category ?? null, blindTenant],
      bytesOf(entry?.batchBlock),
      batch,
      blockTime,
    )
    deleteOlder.run(hash, lastInsertRowid)
    mergeKeys(lastInsertRowid)
    // Notes what has happened. It promises no revocation: the request that superseded did that.
    if (entry?.supersedes) link.run(fromHex(entry.supersedes), hash)
  }
}
