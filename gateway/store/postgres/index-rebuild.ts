import { fromHex, type Hex } from '#document/hex.ts'
import { bytesOf, hexOf } from '../columns.ts'
import type { HistoryPlace, IndexRebuild, Rebuilt } from '../command-database.ts'
import type { Postgres } from '../drivers/postgres/database.ts'
import type { Query, Row } from '../drivers/postgres/query.ts'
import { KEPT_STATUSES } from '../rules.ts'
import { insertDocuments } from './index-documents.ts'

/** Documents in one write. */
const CHUNK = 500
/** Rows that are moved or deleted in one write: some milliseconds. */
const ROWS_A_WRITE = 2_000

/** A row as `see` found it. */
type Seen = { status: number; block: number | null }

/**
 * Rebuilds the index while gateways write it. Each write waits until no gateway writes outcomes or
 * erases, so that no change of theirs falls between an old row and its new one.
 *
 * @param database Fenced by the lease of the command.
 * @param blindTenant The blind index that documents of an unknown tenant get.
 */
export async function createIndexRebuild(
  database: Postgres,
  blindTenant: bigint | null,
): Promise<IndexRebuild> {
  const { query, transaction } = database
  const lastOld = await newestRow(database)
  let seen = new Map<Hex, Seen>()

  return {
    async anchoredAfter(place) {
      const rows = await query(
        `SELECT block_number, document_hash FROM history
         WHERE (block_number, document_hash) > ($1, $2)
         ORDER BY block_number, document_hash LIMIT ${CHUNK}`,
        [place?.blockNumber ?? -1, bytesOf(place?.documentHash) ?? new Uint8Array()],
      )
      return rows.map(placeOf)
    },
    async pending() {
      const rows = await query(`
        SELECT document_hash, valid_until FROM intent
        WHERE kind = 'issue' AND root IS NULL AND block_number IS NULL ORDER BY id`)
      return rows.map(({ document_hash, valid_until }) => ({
        documentHash: hexOf(document_hash),
        validUntil: Number(valid_until),
      }))
    },
    async see(documentHashes) {
      const rows = await query(
        `SELECT DISTINCT ON (document_hash) document_hash, status, block_number FROM document
         WHERE document_hash = ANY($1) ORDER BY document_hash, batch NULLS FIRST, id`,
        [documentHashes.map(fromHex)],
      )
      seen = new Map(
        rows.map((row) => [
          hexOf(row.document_hash),
          { status: Number(row.status), block: row.block_number as number | null },
        ]),
      )
    },
    replace: (documents) =>
      transaction(async (within) => {
        await alone(within)
        await replaceRows(within, documents, { seen, blindTenant })
        await linkSuccessors(within, documents)
      }),
    async ownBatches(name) {
      const owned = await query("UPDATE batch SET tenant = $1 WHERE tenant = '' RETURNING 1", [
        name,
      ])
      return owned.length
    },
    async undatedBatches() {
      const rows = await query(`
        SELECT root FROM batch
        WHERE promised AND promised_at IS NULL AND block_number IS NOT NULL`)
      return rows.map(({ root }) => hexOf(root))
    },
    async dateBatch(root, time) {
      await query('UPDATE batch SET promised_at = $2 WHERE root = $1', [fromHex(root), time])
    },
    async incompleteBatches() {
      const rows = await query(`
        SELECT id, manifest, tenant FROM batch
        WHERE promised AND size > (SELECT count(*) FROM document WHERE document.batch = batch.id)
        ORDER BY id`)
      return rows.map(({ id, manifest, tenant }) => ({
        id: Number(id),
        manifest: hexOf(manifest),
        tenant: String(tenant),
      }))
    },
    addToBatch: (id, documents) =>
      transaction(async (within) => {
        await alone(within)
        const entries = documents.map((one) => ({ ...one, blockNumber: null, batch: id }))
        await insertDocuments(within, entries)
      }),
    async end() {
      while ((await moveKept(database, lastOld, blindTenant)) > 0) {}
      let dropped = 0
      for (let count = 1; count > 0; dropped += count) count = await dropOld(database, lastOld)
      await transaction(async (within) => {
        await within('DELETE FROM document_index')
        await within('INSERT INTO document_index VALUES ($1)', [lastOld + 1])
      })
      return dropped
    },
  }
}

/** Until the transaction ends, no gateway writes outcomes, and none begins an erasure. */
async function alone(query: Query): Promise<void> {
  await query('SELECT lock_outcomes()')
  await query('LOCK TABLE tombstone IN SHARE MODE')
}

/** @returns The highest id of the index: whatever is added from now on has a higher one. */
function newestRow({ transaction }: Postgres): Promise<number> {
  return transaction(async (query) => {
    // Waits for transactions that have got an id, and are not committed.
    await query('LOCK TABLE document IN SHARE MODE')
    const [row] = await query('SELECT max(id) AS id FROM document')
    return Number(row?.id ?? 0)
  })
}

function placeOf({ block_number, document_hash }: Row): HistoryPlace {
  return { blockNumber: Number(block_number), documentHash: hexOf(document_hash) }
}

/** Keeps what a gateway has changed since the row was seen. */
async function replaceRows(
  query: Query,
  documents: readonly Rebuilt[],
  { seen, blindTenant }: { seen: ReadonlyMap<Hex, Seen>; blindTenant: bigint | null },
): Promise<void> {
  const column = <T>(of: (document: Rebuilt) => T) => documents.map(of)
  const seenOf = ({ documentHash }: Rebuilt) => seen.get(documentHash)
  await query(
    `WITH item AS (
       SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::bigint[], $5::smallint[],
         $6::integer[], $7::bigint[], $8::bigint[], $9::bigint[], $10::smallint[], $11::bigint[],
         $13::bigint[])
         WITH ORDINALITY AS item (hash, batch_block, batch, block, status, issued_on, valid_until,
           subject, category, seen_status, seen_block, block_time, place)
     ), old AS (
       SELECT DISTINCT ON (item.hash) document.id FROM item
       JOIN document ON document.document_hash = item.hash
       WHERE item.batch IS NULL OR document.batch IS NULL OR document.batch = item.batch
       ORDER BY item.hash, (document.batch IS NOT DISTINCT FROM item.batch) DESC, document.batch,
         document.id
     ), gone AS (
       DELETE FROM document USING old WHERE document.id = old.id RETURNING document.*
     )
     INSERT INTO document (document_hash, batch_block, batch, block_number, status, issued_on,
       valid_until, subject, category, tenant, created_at)
     SELECT item.hash, coalesce(item.batch_block, gone.batch_block),
       coalesce(item.batch, gone.batch),
       CASE WHEN is_changed THEN gone.block_number ELSE item.block END,
       CASE WHEN is_changed THEN gone.status ELSE item.status END,
       coalesce(item.issued_on, gone.issued_on, 0), item.valid_until,
       CASE WHEN NOT is_erased THEN coalesce(item.subject, gone.subject) END,
       CASE WHEN NOT is_erased THEN coalesce(item.category, gone.category) END,
       coalesce(gone.tenant, $12), coalesce(gone.created_at, item.block_time)
     FROM item LEFT JOIN gone ON gone.document_hash = item.hash,
       LATERAL (SELECT
         item.seen_status IS NOT NULL AND gone.id IS NOT NULL AND
           (gone.status, gone.block_number) IS DISTINCT FROM (item.seen_status, item.seen_block)
           AS is_changed,
         EXISTS (SELECT 1 FROM tombstone WHERE tombstone.hash = item.hash) AS is_erased) AS now
     ORDER BY place`,
    [
      column(({ documentHash }) => fromHex(documentHash)),
      column(({ entry }) => bytesOf(entry?.batchBlock)),
      column(({ batch = null }) => batch),
      column(({ blockNumber }) => blockNumber),
      column(({ status }) => KEPT_STATUSES.indexOf(status)),
      column(({ entry }) => entry?.issuedOn ?? null),
      column(({ validUntil }) => validUntil),
      column(({ entry }) => entry?.subject ?? null),
      column(({ entry }) => entry?.category ?? null),
      column((one) => seenOf(one)?.status ?? null),
      column((one) => seenOf(one)?.block ?? null),
      blindTenant,
      column(({ blockTime = null }) => blockTime),
    ],
  )
}

/** Notes what has happened. It promises no revocation: the request that superseded did that. */
async function linkSuccessors(query: Query, documents: readonly Rebuilt[]): Promise<void> {
  const links = documents.flatMap(({ documentHash, entry }) =>
    entry?.supersedes ? [{ from: entry.supersedes, to: documentHash }] : [],
  )
  if (links.length === 0) return
  await query(
    `INSERT INTO succession (document_hash, successor_hash, revoked)
     SELECT old, new, true FROM unnest($1::bytea[], $2::bytea[]) AS item (old, new)
     ON CONFLICT DO NOTHING`,
    [links.map(({ from }) => fromHex(from)), links.map(({ to }) => fromHex(to))],
  )
}

/**
 * Moves old rows above the others: documents of batches, which are not among those of the history,
 * and those that the outbox has, which may have left the history in a reorg.
 *
 * @returns How many rows it moved.
 */
function moveKept(
  { transaction }: Postgres,
  lastOld: number,
  blindTenant: bigint | null,
): Promise<number> {
  return transaction(async (query) => {
    await alone(query)
    const moved = await query(
      `WITH moved AS (
         DELETE FROM document WHERE id IN (
           SELECT id FROM document WHERE id <= $1 AND (batch_block IS NOT NULL OR EXISTS (
             SELECT 1 FROM intent
             WHERE intent.document_hash = document.document_hash AND kind = 'issue'))
           ORDER BY id LIMIT ${ROWS_A_WRITE})
         RETURNING *)
       INSERT INTO document (document_hash, batch_block, batch, block_number, status, issued_on,
         valid_until, subject, category, tenant, created_at)
       SELECT document_hash, batch_block, batch, block_number, status, issued_on, valid_until,
         subject, category, coalesce(tenant, $2), created_at
       FROM moved ORDER BY id RETURNING 1`,
      [lastOld, blindTenant],
    )
    return moved.length
  })
}

/** Deletes rows that neither chain nor outbox has. @returns How many. */
function dropOld({ transaction }: Postgres, lastOld: number): Promise<number> {
  return transaction(async (query) => {
    const dropped = await query(
      `DELETE FROM document WHERE id IN (
         SELECT id FROM document WHERE id <= $1 ORDER BY id LIMIT ${ROWS_A_WRITE}) RETURNING 1`,
      [lastOld],
    )
    return dropped.length
  })
}
