import type { BatchDrafts, DraftBlock, DraftDocument, KnownBatch } from '#promise/batch-log.ts'
import { hexOf } from '../columns.ts'
import { BLOCKS_A_GROUP, type DraftGroups, inParts } from '../draft-groups.ts'
import type { Database } from '../drivers/sqlite/database.ts'
import { createAddBatch } from './batch-log.ts'
import { createInsertDocument } from './document-index.ts'
import type { SqliteStore } from './store.ts'

/** Rows that one piece of a write adds or deletes: some milliseconds. */
const ROWS_A_WRITE = 64
const ROWS_A_DELETE = 500

/**
 * Drafts in the gateway's database. A row names what a request stores: in the embedded store exactly
 * the blocks that it inserted, with them; on a Kubo node the group, before it is pinned. So what is
 * deleted is known to be of no promise.
 *
 * @param groups Absent when payloads are kept in the database.
 */
export function createSqliteBatchDrafts(
  database: Database,
  { store, groups }: { store: SqliteStore; groups?: DraftGroups | undefined },
): BatchDrafts {
  const { sqlite, write } = database
  const note = createNote(database)
  const insertBlocks = createInsertBlocks(database, store)
  const insertDocuments = createInsertDocuments(database)
  const discardRows = createDiscardRows(database, groups)
  const selectUnpromised = sqlite.prepare('SELECT id FROM batch WHERE promised = 0')
  const selectRequests = sqlite.prepare('SELECT DISTINCT request FROM batch_draft')

  return {
    async put(request, blocks) {
      if (groups) {
        const noteRoot = (root: Uint8Array) => write(() => note(request, { root }))
        for (const some of inParts(blocks, BLOCKS_A_GROUP)) await groups.pin(some, noteRoot)
        return
      }
      const writes = inParts(blocks, ROWS_A_WRITE).map((some) =>
        write(() => {
          const ids = insertBlocks(some)
          if (ids) note(request, { ids })
        }),
      )
      await Promise.all(writes)
    },
    async index(request, batch, documents) {
      const writes = inParts(documents, ROWS_A_WRITE).map((some) =>
        write(() => {
          const { id, isNew, erased } = insertDocuments(batch, some)
          if (isNew) note(request, { batch: id })
          return erased
        }),
      )
      return new Set((await Promise.all(writes)).flat())
    },
    discard: discardRows,
    async discardAll(signal) {
      const requests = selectRequests.all().map(({ request }) => request as Uint8Array)
      for (const request of requests) if (!signal.aborted) await discardRows(request)
      for (const { id } of selectUnpromised.all())
        if (!signal.aborted) await deleteBatch(database, Number(id))
      return requests.length
    },
  }
}

type Ids = { first: number; last: number }

/** @returns A function, for use within a write, that notes what a request stores. */
function createNote({ sqlite }: Database) {
  const insert = sqlite.prepare(`
    INSERT INTO batch_draft (request, first_block, last_block, kubo_root, batch)
    VALUES (?, ?, ?, ?, ?)`)
  return (request: Uint8Array, what: { ids?: Ids; root?: Uint8Array; batch?: number }): void => {
    const { ids, root = null, batch = null } = what
    insert.run(request, ids?.first ?? null, ids?.last ?? null, root, batch)
  }
}

/**
 * @returns A function, for use within a write, that inserts blocks; it returns the ids of those that
 * the store did not have.
 */
function createInsertBlocks({ sqlite }: Database, store: SqliteStore) {
  const selectLast = sqlite.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'block'")
  const lastId = () => Number(selectLast.get()?.seq ?? 0)
  return (blocks: readonly DraftBlock[]): Ids | undefined => {
    const before = lastId()
    // To look for each takes longer than to insert it. The store has all of a batch that was issued
    // before, or none; a block that is in it twice does no harm.
    const [one] = blocks
    const insert = one && store.has(one.hash) ? store.insert : store.insertNew
    for (const { hash, bytes } of blocks) insert(hash, bytes)
    const last = lastId()
    return last > before ? { first: before + 1, last } : undefined
  }
}

/** @returns A function, for use within a write, that adds documents of a batch to the index. */
function createInsertDocuments(database: Database) {
  const addBatch = createAddBatch(database)
  const { insert, insertNew } = createInsertDocument(database)
  const selectErased = database.sqlite.prepare(`
    SELECT hash FROM tombstone WHERE hash IN (SELECT unhex(substr(value, 3)) FROM json_each(?))`)
  return (batch: Omit<KnownBatch, 'id'>, documents: readonly DraftDocument[]) => {
    const { id, isNew, isPromised } = addBatch(batch)
    // The index already has the documents of a repeat.
    const insertDocument = isPromised ? insert : insertNew
    for (const { documentHash, entry } of documents)
      insertDocument({ documentHash, entry, blockNumber: null, batch: id })
    const hashes = JSON.stringify(documents.map(({ documentHash }) => documentHash))
    const erased = selectErased.all(hashes).map(({ hash }) => hexOf(hash))
    return { id, isNew, erased }
  }
}

/**
 * Deletes the rows of a request, and what they name unless its batch is promised. Each step is one
 * write: a kill leaves rows that name what is left.
 */
function createDiscardRows(
  database: Database,
  groups: DraftGroups | undefined,
): BatchDrafts['discard'] {
  const { sqlite, write } = database
  const isPromised = sqlite.prepare(
    'SELECT 1 FROM batch_request WHERE request = ? AND promised = 1',
  )
  const next = sqlite.prepare(
    'SELECT id, first_block, last_block, kubo_root, batch FROM batch_draft WHERE request = ? LIMIT 1',
  )
  const removeBlocks = sqlite.prepare('DELETE FROM block WHERE id BETWEEN ? AND ?')
  const remove = sqlite.prepare('DELETE FROM batch_draft WHERE id = ?')
  const removeSome = sqlite.prepare(`
    DELETE FROM batch_draft WHERE id IN (
      SELECT id FROM batch_draft WHERE request = ? LIMIT ${ROWS_A_DELETE})`)

  return async (request) => {
    // Once it is promised, it stays so.
    if (isPromised.get(request)) while ((await write(() => removeSome.run(request).changes)) > 0) {}
    for (let row = next.get(request); row; row = next.get(request)) {
      const { id, first_block, last_block, kubo_root, batch } = row as Row
      // Without the node of that time, its blocks are out of reach.
      if (kubo_root) await groups?.unpin(kubo_root)
      if (batch !== null) await deleteBatch(database, batch)
      await write(() => {
        if (first_block !== null) removeBlocks.run(first_block, last_block)
        remove.run(id)
      })
    }
  }
}

type Row = {
  id: number
  first_block: number | null
  last_block: number | null
  kubo_root: Uint8Array | null
  batch: number | null
}

/** Deletes a batch that was never promised, or will never be anchored, from the index. */
async function deleteBatch({ sqlite, write }: Database, id: number): Promise<void> {
  const some = sqlite.prepare(`
    DELETE FROM document WHERE id IN (SELECT id FROM document WHERE batch = ? LIMIT ${ROWS_A_DELETE})`)
  const last = sqlite.prepare('DELETE FROM batch WHERE id = ? AND promised = 0')
  while ((await write(() => some.run(id).changes)) > 0) {}
  await write(() => void last.run(id))
}
