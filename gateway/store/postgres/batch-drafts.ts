import { fromHex, type Hex, toHex } from '#document/hex.ts'
import {
  type BatchDrafts,
  type DraftBlock,
  type DraftDocument,
  type KnownBatch,
  leaseOfBatch,
} from '#promise/batch-log.ts'
import type { Leases } from '#promise/lease.ts'
import { hexOf } from '../columns.ts'
import { BLOCKS_A_GROUP, type DraftGroups, inParts } from '../draft-groups.ts'
import type { Postgres } from '../drivers/postgres/database.ts'
import type { Query } from '../drivers/postgres/query.ts'
import { addBatch } from './batch-log.ts'
import { insertDocuments } from './index-documents.ts'
import { insertBlocks } from './store.ts'

const HASH = 32
/** Rows of the index in one statement: some milliseconds. */
const ROWS_A_WRITE = 500
/** Younger batches may be of a request that another gateway works on. */
const ABANDONED_AFTER = "interval '1 hour'"

/**
 * Drafts in PostgreSQL. A row names what a request stores: in the database exactly the blocks that
 * it inserted, with them; on a Kubo node the group, before it is pinned. So what is deleted is known
 * to be of no promise.
 *
 * @param leases Of requests: a draft whose lease is free is nobody's.
 * @param groups Absent when payloads are kept in the database.
 */
export function createPostgresBatchDrafts(
  database: Postgres,
  leases: Leases,
  groups: DraftGroups | undefined,
): BatchDrafts {
  const { query, transaction } = database
  const discard = createDiscard(database, groups)

  /** @returns Whether no gateway works on the request. */
  async function discardIfFree(request: Uint8Array): Promise<boolean> {
    const lease = await leases.take([leaseOfBatch(toHex(request))])
    if (lease === undefined) return false
    try {
      await discard(request)
    } finally {
      await lease.release().catch(() => {})
    }
    return true
  }

  return {
    async put(request, blocks) {
      const noteRoot = async (root: Uint8Array) => {
        await query('INSERT INTO batch_draft (request, kubo_root) VALUES ($1, $2)', [request, root])
      }
      if (groups)
        for (const some of inParts(blocks, BLOCKS_A_GROUP)) await groups.pin(some, noteRoot)
      else
        for (const some of inParts(blocks, ROWS_A_WRITE))
          await transaction((within) => putBlocks(within, request, some))
    },
    async index(request, batch, documents) {
      const erased: Hex[] = []
      for (const some of inParts(documents, ROWS_A_WRITE))
        erased.push(
          ...(await transaction((within) => indexDocuments(within, request, batch, some))),
        )
      return new Set(erased)
    },
    discard,
    async discardAll(signal) {
      const rows = await query('SELECT DISTINCT request FROM batch_draft')
      let discarded = 0
      for (const { request } of rows) {
        if (signal.aborted) break
        if (await discardIfFree(request as Uint8Array)) discarded++
      }
      const batches = await query(`
        SELECT id FROM batch WHERE NOT promised AND created_at < now() - ${ABANDONED_AFTER}`)
      for (const { id } of batches) if (!signal.aborted) await deleteBatch(query, Number(id))
      return discarded
    },
  }
}

/** @returns Those of the documents that have been erased. */
async function indexDocuments(
  query: Query,
  request: Uint8Array,
  batch: Omit<KnownBatch, 'id'>,
  documents: readonly DraftDocument[],
): Promise<Hex[]> {
  const { id, isNew } = await addBatch(query, batch)
  if (isNew) await query('INSERT INTO batch_draft (request, batch) VALUES ($1, $2)', [request, id])
  const entries = documents.map((one) => ({ ...one, blockNumber: null, batch: id }))
  await insertDocuments(query, entries)
  const hashes = documents.map(({ documentHash }) => fromHex(documentHash))
  const erased = await query('SELECT hash FROM tombstone WHERE hash = ANY($1)', [hashes])
  return erased.map(({ hash }) => hexOf(hash))
}

async function putBlocks(
  query: Query,
  request: Uint8Array,
  blocks: readonly DraftBlock[],
): Promise<void> {
  const inserted = await insertBlocks(query, blocks)
  if (inserted.length === 0) return
  const hashes = Buffer.concat(inserted)
  await query('INSERT INTO batch_draft (request, hashes) VALUES ($1, $2)', [request, hashes])
}

/**
 * Deletes the rows of a request, and what they name unless its batch is promised. Each step is one
 * transaction: a kill leaves rows that name what is left.
 */
function createDiscard(
  { query, transaction }: Postgres,
  groups: DraftGroups | undefined,
): BatchDrafts['discard'] {
  return async (request) => {
    for (;;) {
      const [row] = await query(
        'SELECT id, hashes, kubo_root, batch FROM batch_draft WHERE request = $1 LIMIT 1',
        [request],
      )
      if (!row) return
      const promised = await query('SELECT 1 FROM batch_request WHERE request = $1 AND promised', [
        request,
      ])
      const isKept = promised.length > 0
      const hashes = (row.hashes as Uint8Array | null) ?? new Uint8Array()
      // Without the node of that time, its blocks are out of reach.
      if (!isKept && row.kubo_root) await groups?.unpin(row.kubo_root as Uint8Array)
      if (!isKept && row.batch !== null) await deleteBatch(query, Number(row.batch))
      await transaction(async (within) => {
        if (!isKept) await within('DELETE FROM block WHERE hash = ANY($1)', [partsOf(hashes)])
        await within('DELETE FROM batch_draft WHERE id = $1', [row.id])
      })
    }
  }
}

function partsOf(hashes: Uint8Array): Uint8Array[] {
  return Array.from({ length: hashes.length / HASH }, (_, i) =>
    hashes.subarray(i * HASH, (i + 1) * HASH),
  )
}

/** Deletes a batch that was never promised, or will never be anchored, from the index. */
async function deleteBatch(query: Query, id: number): Promise<void> {
  const some = () =>
    query(
      `DELETE FROM document WHERE id IN (
         SELECT id FROM document WHERE batch = $1 LIMIT ${ROWS_A_WRITE}) RETURNING 1`,
      [id],
    )
  while ((await some()).length > 0) {}
  await query('DELETE FROM batch WHERE id = $1 AND NOT promised', [id])
}
