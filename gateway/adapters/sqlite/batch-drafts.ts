import type { BatchDrafts } from '../../issue/batch-log.ts'
import type { DraftGroups } from '../draft-groups.ts'
import { createAddBatch } from './batch-log.ts'
import type { Database } from './database.ts'
import { createInsertDocument } from './document-index.ts'
import type { SqliteStore } from './store.ts'

const HASH = 32
/** Blocks that are pinned together: the puts of other requests wait for it. */
const BLOCKS_A_GROUP = 256
/** Rows of the index in one write: some milliseconds. */
const ROWS_A_WRITE = 500

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
  const note = sqlite.prepare(
    'INSERT INTO batch_draft (request, hashes, kubo_root, batch) VALUES (?, ?, ?, ?)',
  )
  const addBatch = createAddBatch(database)
  const { insert, insertNew } = createInsertDocument(database)
  const discardRows = createDiscardRows(database, store, groups)
  const selectUnpromised = sqlite.prepare('SELECT id FROM batch WHERE promised = 0')
  const selectRequests = sqlite.prepare('SELECT DISTINCT request FROM batch_draft')

  return {
    async put(request, blocks) {
      if (groups) {
        const noteRoot = (root: Uint8Array) => write(() => void note.run(request, null, root, null))
        for (let at = 0; at < blocks.length; at += BLOCKS_A_GROUP)
          await groups.pin(blocks.slice(at, at + BLOCKS_A_GROUP), noteRoot)
        return
      }
      await write(() => {
        const inserted = blocks.filter(({ hash, bytes }) => store.insert(hash, bytes))
        if (inserted.length > 0)
          note.run(request, Buffer.concat(inserted.map(({ hash }) => hash)), null, null)
      })
    },
    index: (request, batch, documents) =>
      write(() => {
        const { id, isNew, isPromised } = addBatch(batch)
        if (isNew) note.run(request, null, null, id)
        // Of a repeat, the index has them already.
        const insertDocument = isPromised ? insert : insertNew
        for (const { documentHash, entry } of documents)
          insertDocument({ documentHash, entry, blockNumber: null, batch: id })
      }),
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

/**
 * Deletes the rows of a request, and what they name unless its batch is promised. Each step is one
 * write: a kill leaves rows that name what is left.
 */
function createDiscardRows(
  database: Database,
  store: SqliteStore,
  groups: DraftGroups | undefined,
): BatchDrafts['discard'] {
  const { sqlite, write } = database
  const isPromised = sqlite.prepare(
    'SELECT 1 FROM batch_request WHERE request = ? AND promised = 1',
  )
  const next = sqlite.prepare(
    'SELECT id, hashes, kubo_root, batch FROM batch_draft WHERE request = ? LIMIT 1',
  )
  const remove = sqlite.prepare('DELETE FROM batch_draft WHERE id = ?')

  return async (request) => {
    for (let row = next.get(request); row; row = next.get(request)) {
      const { id, hashes, kubo_root, batch } = row as Row
      const isKept = isPromised.get(request) !== undefined
      // Without the node of that time, its blocks are out of reach.
      if (!isKept && kubo_root) await groups?.unpin(kubo_root)
      if (!isKept && batch !== null) await deleteBatch(database, batch)
      await write(() => {
        if (!isKept && hashes)
          for (let at = 0; at < hashes.length; at += HASH)
            store.delete(hashes.subarray(at, at + HASH))
        remove.run(id)
      })
    }
  }
}

type Row = {
  id: number
  hashes: Uint8Array | null
  kubo_root: Uint8Array | null
  batch: number | null
}

/** Deletes a batch that was never promised, or will never be anchored, from the index. */
async function deleteBatch({ sqlite, write }: Database, id: number): Promise<void> {
  const some = sqlite.prepare(`
    DELETE FROM document WHERE id IN (SELECT id FROM document WHERE batch = ? LIMIT ${ROWS_A_WRITE})`)
  const last = sqlite.prepare('DELETE FROM batch WHERE id = ? AND promised = 0')
  while ((await write(() => some.run(id).changes)) > 0) {}
  await write(() => void last.run(id))
}
