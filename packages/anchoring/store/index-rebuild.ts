import { fromHex, type Hex } from '#document/hex.ts'
import type { IndexEntry, KeptStatus } from '#promise/document-index.ts'
import { type Database, lockOutcomes } from './database.ts'
import { ENTRY_COLUMNS, insertDocuments } from './documents.ts'
import { erasedOf } from './payloads.ts'
import {
  all,
  bytesOf,
  each,
  first,
  hexOf,
  numberOrNull,
  onPostgres,
  type Row,
  statement,
  type Work,
} from './sql.ts'
import { insertItems, KEPT_STATUSES } from './tables.ts'

/** The number of documents in one read. */
const CHUNK = 500
/** The number of rows that are moved or deleted in one write, which takes some milliseconds. */
const ROWS_A_WRITE = 2_000

/** A document for the rebuilt index. */
export type Rebuilt = {
  documentHash: Hex
  /** `null` while it is pending, and for a document in a batch. */
  blockNumber: number | null
  /** The id of its batch in the database. */
  batch?: number
  validUntil: number
  status: KeptStatus | null
  /**
   * The time of its block, in seconds of the Unix epoch, used unless the index has its own time.
   * Absent while it is pending, and for a document in a batch.
   */
  blockTime?: number
  /** Absent when its payload could not be opened. The previous entry of the index then stays. */
  entry?: IndexEntry
}

/** The place of a document in the history: by block, then by hash. */
export type HistoryPlace = { blockNumber: number; documentHash: Hex }

export type IndexRebuild = Awaited<ReturnType<typeof createIndexRebuild>>

/** A row as `see` found it. */
type Seen = { status: number; block: number | null }

const SELECT_ANCHORED = statement(`
  SELECT block_number, document_hash FROM history
  WHERE (block_number, document_hash) > (:block, :hash)
  ORDER BY block_number, document_hash LIMIT ${CHUNK}`)
const SELECT_PENDING = statement(`
  SELECT document_hash, valid_until FROM intent
  WHERE kind = 'issue' AND root IS NULL AND block_number IS NULL ORDER BY id`)
// Blind indexes have 64 bits, which is more than a number can represent.
const ROW_COLUMNS = `id, document_hash, batch_block, batch, block_number, status, issued_on,
  valid_until, CAST(subject AS text) AS subject, CAST(category AS text) AS category,
  CAST(tenant AS text) AS tenant, created_at, actor`
const SELECT_ROWS = statement(
  (sql) => `
    SELECT ${ROW_COLUMNS} FROM document WHERE ${sql.isIn('document_hash', 'hashes', 'bytes')}
    ORDER BY batch IS NOT NULL, batch, id`,
)
const OWN = statement("UPDATE batch SET tenant = :name WHERE tenant = '' RETURNING id")
const SELECT_UNDATED = statement(`
  SELECT root FROM batch WHERE promised AND promised_at IS NULL AND block_number IS NOT NULL`)
const DATE = statement('UPDATE batch SET promised_at = :time WHERE root = :root')
const SELECT_INCOMPLETE = statement(`
  SELECT id, manifest, tenant FROM batch
  WHERE promised AND size > (SELECT count(*) FROM document WHERE document.batch = batch.id)
  ORDER BY id`)
const SELECT_NEWEST = statement('SELECT max(id) AS id FROM document')
const CLEAR_FIRST = statement('DELETE FROM document_index')
const SET_FIRST = statement('INSERT INTO document_index (first) VALUES (:first)')

// Waits for transactions that have an id but are not committed.
const LOCK_DOCUMENTS = onPostgres('LOCK TABLE document IN SHARE MODE')
const LOCK_ERASURES = onPostgres('LOCK TABLE tombstone IN SHARE MODE')

/**
 * Rebuilds the index, also while gateways write to it. A row gets a new place above all old ones,
 * and the old row is deleted in the same write. An interrupted rebuild leaves a complete index, and
 * the next one goes through it again. Rows that a gateway writes meanwhile stay.
 *
 * Each write waits until no gateway writes outcomes or erases, so that none of their changes falls
 * between an old row and its new one.
 *
 * @param database A database that is fenced by the lease of the command.
 * @param blindTenant The blind index for documents of an unknown tenant.
 */
export async function createIndexRebuild(database: Database, blindTenant: bigint | null) {
  const lastOld = await database.write(newestRow)
  let seen = new Map<Hex, Seen>()

  return {
    /** @returns Up to 500 documents of the history after a place, in order. */
    async anchoredAfter(place: HistoryPlace | undefined): Promise<HistoryPlace[]> {
      const rows = await database.read(SELECT_ANCHORED, {
        block: place?.blockNumber ?? -1,
        hash: bytesOf(place?.documentHash) ?? new Uint8Array(),
      })
      return rows.map(historyPlaceOf)
    },
    /** @returns The promised documents, in the order of their requests. */
    async pending(): Promise<{ documentHash: Hex; validUntil: number }[]> {
      return (await database.read(SELECT_PENDING)).map(({ document_hash, valid_until }) => ({
        documentHash: hexOf(document_hash),
        validUntil: Number(valid_until),
      }))
    },
    /**
     * Reads the entries of documents in the index, so that `replace` does not undo changes that a
     * gateway makes in between.
     */
    async see(documentHashes: readonly Hex[]): Promise<void> {
      const rows = await database.read(SELECT_ROWS, { hashes: documentHashes.map(fromHex) })
      seen = new Map(rows.toReversed().map((row) => [hexOf(row.document_hash), seenOf(row)]))
    },
    replace: (documents: readonly Rebuilt[]) =>
      database.write(function* () {
        yield* alone()
        yield* replaceRows(documents, { seen, blindTenant })
        yield* linkSuccessors(documents)
      }),
    /**
     * Assigns batches of an unknown tenant, which were restored from the chain, to this tenant.
     *
     * @returns The number of batches.
     */
    async ownBatches(name: string): Promise<number> {
      return (await database.change(OWN, { name })).length
    },
    /** @returns The roots of batches that are on the chain, and promised at an unknown time. */
    async undatedBatches(): Promise<Hex[]> {
      return (await database.read(SELECT_UNDATED)).map(({ root }) => hexOf(root))
    },
    /** @param time Seconds of the Unix epoch. */
    async dateBatch(root: Hex, time: number): Promise<void> {
      await database.change(DATE, { root: fromHex(root), time })
    },
    /** @returns The batches of which the index lacks some or all documents. */
    async incompleteBatches(): Promise<{ id: number; manifest: Hex; tenant: string }[]> {
      return (await database.read(SELECT_INCOMPLETE)).map(({ id, manifest, tenant }) => ({
        id: Number(id),
        manifest: hexOf(manifest),
        tenant: String(tenant),
      }))
    },
    /** Adds documents of a batch that the index lacks. */
    addToBatch: (id: number, documents: readonly { documentHash: Hex; entry: IndexEntry }[]) =>
      database.write(function* () {
        yield* alone()
        yield* insertDocuments(documents.map((one) => ({ ...one, blockNumber: null, batch: id })))
      }),
    /** Drops the rows that were not replaced. @returns The number of rows. */
    async end(): Promise<number> {
      const move = () => database.write(() => moveKept(lastOld, blindTenant))
      while ((await move()) > 0) {}
      let dropped = 0
      for (let count = 1; count > 0; dropped += count)
        count = (await database.change(DROP_OLD, { lastOld })).length
      await database.write(function* () {
        yield* all(CLEAR_FIRST)
        yield* all(SET_FIRST, { first: lastOld + 1 })
      })
      return dropped
    },
  }
}

/** @param row A row of the table `history`. */
export function historyPlaceOf(row: Row): HistoryPlace {
  return { blockNumber: Number(row.block_number), documentHash: hexOf(row.document_hash) }
}

/** Until the transaction ends, no gateway writes outcomes, and none begins an erasure. */
function* alone(): Work<void> {
  yield* lockOutcomes()
  yield* all(LOCK_ERASURES)
}

/** @returns The highest id of the index. Rows that are added from now on have higher ones. */
function* newestRow(): Work<number> {
  yield* all(LOCK_DOCUMENTS)
  const row = yield* first(SELECT_NEWEST)
  return Number(row?.id ?? 0)
}

/** @returns A blind index, which has 64 bits, from its text. */
const blindIndexOf = (text: unknown) =>
  text === null || text === undefined ? null : BigInt(String(text))

const seenOf = (row: Row): Seen => ({
  status: Number(row.status),
  block: numberOrNull(row.block_number),
})

const DELETE_ROWS = statement(
  (sql) => `DELETE FROM document WHERE ${sql.isIn('id', 'ids', 'integer')}`,
)
const INSERT_ROW = statement(
  (sql) => `
    ${insertItems(sql, 'document', `${ENTRY_COLUMNS}, status, created_at`)}
    WHERE true ORDER BY place`,
)

/** Keeps what a gateway has changed since the row was read. */
function* replaceRows(
  documents: readonly Rebuilt[],
  { seen, blindTenant }: { seen: ReadonlyMap<Hex, Seen>; blindTenant: bigint | null },
): Work<void> {
  const hashes = documents.map(({ documentHash }) => fromHex(documentHash))
  const byHash = Map.groupBy(yield* all(SELECT_ROWS, { hashes }), (row) => hexOf(row.document_hash))
  const erased = yield* erasedOf(hashes)
  const replaced = documents.map((document) => ({
    document,
    old: oldOf(document, byHash.get(document.documentHash) ?? []),
  }))
  yield* all(DELETE_ROWS, { ids: replaced.flatMap(({ old }) => (old ? [old.id] : [])) })
  yield* each(
    INSERT_ROW,
    replaced.map(({ document, old }) => {
      const { documentHash } = document
      const content = { isErased: erased.has(documentHash), blindTenant }
      return rowOf(document, old, { ...content, seen: seen.get(documentHash) })
    }),
  )
}

/**
 * @returns The row that a document had: that of the same batch, or otherwise the one without a
 * batch.
 */
function oldOf({ batch }: Rebuilt, rows: readonly Row[]): Row | undefined {
  const own = rows.find((row) => numberOrNull(row.batch) === (batch ?? null))
  return own ?? (batch === undefined ? rows[0] : rows.find((row) => row.batch === null))
}

function rowOf(
  { documentHash, blockNumber, batch, validUntil, status, blockTime, entry }: Rebuilt,
  old: Row | undefined,
  about: { seen: Seen | undefined; isErased: boolean; blindTenant: bigint | null },
) {
  const { seen, isErased, blindTenant } = about
  const now = old && seenOf(old)
  const isChanged =
    seen !== undefined &&
    now !== undefined &&
    (now.status !== seen.status || now.block !== seen.block)
  return {
    document_hash: fromHex(documentHash),
    batch_block: bytesOf(entry?.batchBlock) ?? old?.batch_block ?? null,
    batch: batch ?? numberOrNull(old?.batch ?? null),
    block_number: isChanged ? now.block : blockNumber,
    status: isChanged ? now.status : KEPT_STATUSES.indexOf(status),
    issued_on: entry?.issuedOn ?? Number(old?.issued_on ?? 0),
    valid_until: validUntil,
    subject: isErased ? null : (entry?.subject ?? blindIndexOf(old?.subject)),
    category: isErased ? null : (entry?.category ?? blindIndexOf(old?.category)),
    tenant: blindIndexOf(old?.tenant) ?? blindTenant,
    created_at: numberOrNull(old?.created_at ?? null) ?? blockTime ?? null,
    actor: old?.actor ?? null,
  }
}

const LINK = statement(
  (sql) => `
    ${insertItems(sql, 'succession', 'document_hash, successor_hash', { computed: { revoked: true } })}
    WHERE true ON CONFLICT DO NOTHING`,
)

/**
 * Records successions that have already happened. It promises no revocation, because the request
 * that superseded the document did that.
 */
function* linkSuccessors(documents: readonly Rebuilt[]): Work<void> {
  yield* each(
    LINK,
    documents.flatMap(({ documentHash, entry }) =>
      entry?.supersedes
        ? [
            {
              document_hash: fromHex(entry.supersedes),
              successor_hash: fromHex(documentHash),
            },
          ]
        : [],
    ),
  )
}

const SELECT_KEPT = statement(`
  SELECT id FROM document WHERE id <= :lastOld AND (batch_block IS NOT NULL OR EXISTS (
    SELECT 1 FROM intent WHERE intent.document_hash = document.document_hash AND kind = 'issue'))
  ORDER BY id LIMIT ${ROWS_A_WRITE}`)
const SELECT_MOVED = statement(
  (sql) => `
    SELECT ${ROW_COLUMNS} FROM document WHERE ${sql.isIn('id', 'ids', 'integer')} ORDER BY id`,
)
const DROP_OLD = statement(`
  DELETE FROM document WHERE id IN (
    SELECT id FROM document WHERE id <= :lastOld ORDER BY id LIMIT ${ROWS_A_WRITE}) RETURNING id`)

/**
 * Moves old rows above the others: documents of batches, which are not among those of the history,
 * and those in the outbox, which may have left the history in a reorg.
 *
 * @returns The number of moved rows.
 */
function* moveKept(lastOld: number, blindTenant: bigint | null): Work<number> {
  yield* alone()
  const ids = (yield* all(SELECT_KEPT, { lastOld })).map(({ id }) => id)
  const rows = yield* all(SELECT_MOVED, { ids })
  yield* all(DELETE_ROWS, { ids })
  yield* each(
    INSERT_ROW,
    rows.map((row) => ({
      ...row,
      subject: blindIndexOf(row.subject),
      category: blindIndexOf(row.category),
      tenant: blindIndexOf(row.tenant) ?? blindTenant,
    })),
  )
  return rows.length
}
