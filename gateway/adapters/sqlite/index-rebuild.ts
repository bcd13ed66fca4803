import { fromHex, type Hex, toHex } from '../../../document/hex.ts'
import type { IndexEntry, KeptStatus } from '../../document-index.ts'
import type { Database } from './database.ts'
import {
  BY_HASH,
  createInsertDocument,
  createMergeDocumentKeys,
  KEPT_STATUSES,
} from './document-index.ts'
import { KEY_KINDS, retireKeys } from './sorted-keys.ts'

/** Documents in one write. */
const CHUNK = 500

/** A document that the rebuilt index gets. */
export type Rebuilt = {
  documentHash: Hex
  /** `null` while it is pending, and for a document in a batch. */
  blockNumber: number | null
  /** The id of its batch in the database. */
  batch?: number
  validUntil: number
  status: KeptStatus | null
  /** Absent when its payload could not be opened: then what the index had before stays. */
  entry?: IndexEntry
}

/**
 * Rebuilds the index in a database that no gateway uses. A row takes a new place above all old
 * ones, and the old row goes in the same write: a rebuild that is cut off leaves an index that is
 * whole, and the next one goes through it again.
 */
export type IndexRebuild = {
  /** Adds documents that the history does not have: other gateways issued them. */
  addForeign(documents: readonly { documentHash: Hex; blockNumber: number }[]): void
  /** The documents that were anchored, some at a time, in the order of their blocks. */
  anchored(): Iterable<Hex[]>
  /** The promised documents, in the order of their requests. */
  pending(): { documentHash: Hex; validUntil: number }[]
  replace(documents: readonly Rebuilt[]): Promise<void>
  /** The batches whose documents the index does not have, or not all of them. */
  /**
   * Gives batches of an unknown tenant, which were restored from the chain, to this one.
   *
   * @returns How many.
   */
  ownBatches(tenant: string): Promise<number>
  incompleteBatches(): { id: number; manifest: Hex; tenant: string }[]
  /** Adds documents of a batch that the index lacks. */
  addToBatch(
    id: number,
    documents: readonly { documentHash: Hex; entry: IndexEntry }[],
  ): Promise<void>
  /** Drops the rows that were not replaced. @returns How many. */
  end(): Promise<number>
}

/** @param tenant The blind index of whom documents get whose tenant is unknown. */
export function createIndexRebuild(database: Database, tenant: bigint | null): IndexRebuild {
  const { sqlite, write } = database
  sqlite.exec(`
    CREATE TEMP TABLE foreign_document (
      block_number INTEGER NOT NULL, document_hash BLOB NOT NULL,
      PRIMARY KEY (block_number, document_hash)
    ) STRICT, WITHOUT ROWID`)
  const lastOld = Number(sqlite.prepare('SELECT max(id) AS id FROM document').get()?.id ?? 0)
  const addForeign = sqlite.prepare('INSERT OR IGNORE INTO foreign_document VALUES (?, ?)')
  const selectAnchored = sqlite.prepare(`
    SELECT block_number, document_hash FROM history
    WHERE (block_number, document_hash) > (?1, ?2)
    UNION SELECT block_number, document_hash FROM foreign_document
    WHERE (block_number, document_hash) > (?1, ?2)
    ORDER BY block_number, document_hash LIMIT ${CHUNK}`)
  const selectPending = sqlite.prepare(`
    SELECT document_hash AS documentHash, valid_until AS validUntil FROM intent
    WHERE kind = 'issue' AND root IS NULL AND block_number IS NULL ORDER BY id`)
  const replace = createReplace(database, tenant)
  // Their batch is not among the documents of the history.
  const keepBatches = sqlite.prepare(`
    INSERT INTO document (document_hash, batch_block, batch, block_number, status, issued_on,
      valid_until, subject, category, tenant)
    SELECT document_hash, batch_block, batch, block_number, status, issued_on, valid_until, subject,
      category, coalesce(tenant, ?2)
    FROM document WHERE batch_block IS NOT NULL AND id <= ?1 ORDER BY id`)
  const deleteBatches = sqlite.prepare(
    'DELETE FROM document WHERE batch_block IS NOT NULL AND id <= ?',
  )
  const deleteOld = sqlite.prepare('DELETE FROM document WHERE id <= ?')
  const selectIncomplete = sqlite.prepare(`
    SELECT id, manifest, tenant FROM batch
    WHERE promised = 1 AND size > (SELECT count(*) FROM document WHERE document.batch = batch.id)
    ORDER BY id`)
  const documents = createInsertDocument(database)

  return {
    addForeign(documents) {
      for (const { blockNumber, documentHash } of documents)
        addForeign.run(blockNumber, fromHex(documentHash))
    },
    *anchored() {
      let last: Record<string, unknown> | undefined = {
        block_number: -1,
        document_hash: new Uint8Array(0),
      }
      while (last) {
        const place = [last.block_number as number, last.document_hash as Uint8Array] as const
        const rows: Record<string, unknown>[] = selectAnchored.all(...place)
        if (rows.length > 0) yield rows.map((row) => toHex(row.document_hash as Uint8Array))
        last = rows.at(-1)
      }
    },
    pending: () => selectPending.all() as { documentHash: Hex; validUntil: number }[],
    replace: (documents) => write(() => documents.forEach(replace)),
    ownBatches: (name) =>
      write(() => {
        const own = sqlite.prepare("UPDATE batch SET tenant = ? WHERE tenant = ''")
        return Number(own.run(name).changes)
      }),
    incompleteBatches: () =>
      selectIncomplete.all().map(({ id, manifest, tenant }) => ({
        id: Number(id),
        manifest: toHex(manifest as Uint8Array),
        tenant: tenant as string,
      })),
    addToBatch: (id, some) =>
      write(() => {
        for (const { documentHash, entry } of some)
          documents.insert({ documentHash, entry, blockNumber: null, batch: id })
      }),
    end: () =>
      write(() => {
        keepBatches.run(lastOld, tenant)
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
  tenant: bigint | null,
): (document: Omit<Rebuilt, 'batch'> & { batch?: number | null }) => void {
  const insert = sqlite.prepare(`
    INSERT INTO document (document_hash, batch_block, block_number, status, issued_on, valid_until,
      subject, category, tenant, batch)
    SELECT ?1, coalesce(?9, old.batch_block), ?2, ?3, coalesce(?4, old.issued_on, 0), ?5,
      coalesce(?6, old.subject), coalesce(?7, old.category), coalesce(old.tenant, ?8),
      coalesce(?10, old.batch)
    FROM (SELECT 1) LEFT JOIN document AS old ON old.${BY_HASH}`)
  const mergeKeys = createMergeDocumentKeys(sqlite)
  const deleteOlder = sqlite.prepare(`DELETE FROM document WHERE ${BY_HASH} AND id < ?2`)
  const link = sqlite.prepare(`
    INSERT INTO succession (document_hash, successor_hash, revoked) VALUES (?, ?, 1)
    ON CONFLICT DO NOTHING`)

  return ({ documentHash, blockNumber, batch = null, validUntil, status, entry }): void => {
    const hash = fromHex(documentHash)
    const { lastInsertRowid } = insert.run(
      ...[hash, blockNumber, KEPT_STATUSES.indexOf(status), entry?.issuedOn ?? null, validUntil],
      ...[entry?.subject ?? null, entry?.category ?? null, tenant],
      entry?.batchBlock === undefined ? null : fromHex(entry.batchBlock),
      batch,
    )
    deleteOlder.run(hash, lastInsertRowid)
    mergeKeys(lastInsertRowid)
    // Nothing is promised by it: whoever superseded that document has promised, or has not.
    if (entry?.supersedes) link.run(fromHex(entry.supersedes), hash)
  }
}
