import { fromHex, type Hex } from '#document/hex.ts'
import type { Intent } from '#promise/intent.ts'
import { type Binding, bind, type Refusals } from '#store/binding.ts'
import type { Database } from '#store/database.ts'
import type { ErasureList } from '#store/erasure-list.ts'
import { createErasures, type Scrubber } from '#store/erasures.ts'
import { loseStatusLists } from '#store/lost-lists.ts'
import { createIsErased, createPayloadStore, type DeletablePayloads } from '#store/payloads.ts'
import { hexOf, hexOrNull, type Statement, statement } from '#store/sql.ts'
import type { IsBlockErased } from '#store/tombstones.ts'
import type { Side } from '../tables/rows.ts'

/** An intent that was promised and not on the chain when the backup was made. */
export type Waiting = { id: number; kind: Intent['kind']; documentHash: Hex; root: Hex | null }

/** A database that was restored from a backup and that no gateway uses. */
export type Restored = {
  side: Side
  /** @throws {BackupError} when it is damaged, or belongs to another registry, issuer or secret. */
  assertUsable(binding: Binding): Promise<void>
  /** @returns The number of erasures in the list that it did not have. */
  mergeErasures(list: ErasureList): Promise<number>
  /** Marks status lists to which documents may have been added since the backup. */
  loseStatusLists(): Promise<void>
  waiting(): Promise<Waiting[]>
  drop(ids: readonly number[]): Promise<void>
  /** @returns The newest block of the history; -1 when it is empty. */
  newestBlock(): Promise<number>
  /** @returns Whether it knows a document or batch by its intent. */
  isPromised(hash: Hex): Promise<boolean>
  /** @returns Whether a batch is in the history. */
  hasBatch(root: Hex): Promise<boolean>
  /** Lists a batch for keys with `admin`, because its tenant is unknown. */
  listBatch(batch: { root: Hex; size: number; manifest: Hex }): Promise<void>
  /** The payloads in the database. */
  store: DeletablePayloads
  isErased: IsBlockErased
}

const SELECT_WAITING = statement(
  'SELECT id, kind, document_hash, root FROM intent WHERE block_number IS NULL ORDER BY id',
)
const DROP = statement((sql) => `DELETE FROM intent WHERE ${sql.isIn('id', 'ids', 'integer')}`)
const SELECT_NEWEST = statement('SELECT coalesce(max(block_number), -1) AS newest FROM history')
const IS_PROMISED = statement("SELECT 1 FROM intent WHERE document_hash = :hash AND kind = 'issue'")
const HAS_BATCH = statement('SELECT 1 FROM batch_history WHERE root = :hash')
const LIST_BATCH = statement(`
  INSERT INTO batch (root, size, manifest, tenant, promised, block_number)
  VALUES (:root, :size, :manifest, '', true, 0) ON CONFLICT (root) DO UPDATE SET promised = true`)

export function createRestored(
  database: Database,
  { side, refusals, scrubber }: { side: Side; refusals: Refusals; scrubber: Scrubber },
): Restored {
  const finds = async (query: Statement, hash: Hex) =>
    (await database.read(query, { hash: fromHex(hash) })).length > 0
  return {
    side,
    assertUsable: (binding) => bind(database, binding, { refusals }),
    mergeErasures: (list) => createErasures(database, scrubber, list).mergeList(),
    loseStatusLists: () => loseStatusLists(database),
    async waiting() {
      return (await database.read(SELECT_WAITING)).map(({ id, kind, document_hash, root }) => ({
        id: Number(id),
        kind: kind as Intent['kind'],
        documentHash: hexOf(document_hash),
        root: hexOrNull(root),
      }))
    },
    async drop(ids) {
      await database.change(DROP, { ids: [...ids] })
    },
    async newestBlock() {
      const [row] = await database.read(SELECT_NEWEST)
      return Number(row?.newest)
    },
    isPromised: (hash) => finds(IS_PROMISED, hash),
    hasBatch: (root) => finds(HAS_BATCH, root),
    async listBatch({ root, size, manifest }) {
      await database.change(LIST_BATCH, { root: fromHex(root), size, manifest: fromHex(manifest) })
    },
    store: createPayloadStore(database),
    isErased: createIsErased(database),
  }
}
