import { fromHex } from '#document/hex.ts'
import type { Intent } from '#promise/intent.ts'
import { hexOf, hexOrNull } from '#store/columns.ts'
import type { Query } from '#store/drivers/postgres/query.ts'
import { bind } from '#store/postgres/binding.ts'
import { createPostgresErasures } from '#store/postgres/erasures.ts'
import { createPostgresStore } from '#store/postgres/store.ts'
import { readPostgres } from '../tables/postgres.ts'
import type { Restored } from './restored.ts'

/** @param query In one transaction, which the caller commits. */
export function createPostgresRestored(query: Query): Restored {
  const database = {
    query,
    transaction: <T>(work: (query: Query) => Promise<T>) => work(query),
    brief: <T>(read: () => Promise<T>) => read(),
    listen: () => () => {},
  }
  const finds = async (sql: string, values: readonly unknown[]) =>
    (await query(sql, values)).length > 0

  return {
    side: readPostgres(query),
    assertUsable: (binding) => bind(database, binding),
    mergeErasures: (list) => createPostgresErasures(database, list).mergeList(),
    async waiting() {
      const rows = await query(
        'SELECT id, kind, document_hash, root FROM intent WHERE block_number IS NULL ORDER BY id',
      )
      return rows.map(({ id, kind, document_hash, root }) => ({
        ...{ id: Number(id), kind: kind as Intent['kind'] },
        ...{ documentHash: hexOf(document_hash), root: hexOrNull(root) },
      }))
    },
    async drop(ids) {
      await query('DELETE FROM intent WHERE id = ANY($1)', [ids])
    },
    async newestBlock() {
      const [row] = await query('SELECT coalesce(max(block_number), -1) AS newest FROM history')
      return Number(row?.newest)
    },
    isPromised: (hash) =>
      finds("SELECT 1 FROM intent WHERE document_hash = $1 AND kind = 'issue'", [fromHex(hash)]),
    hasBatch: (root) => finds('SELECT 1 FROM batch_history WHERE root = $1', [fromHex(root)]),
    async listBatch({ root, size, manifest }) {
      await query(
        `INSERT INTO batch (root, size, manifest, tenant, promised, block_number)
         VALUES ($1, $2, $3, '', true, 0) ON CONFLICT (root) DO UPDATE SET promised = true`,
        [fromHex(root), size, fromHex(manifest)],
      )
    },
    store: createPostgresStore(database),
    isErased: (hash) => finds('SELECT 1 FROM tombstone WHERE hash = $1', [hash]),
  }
}
