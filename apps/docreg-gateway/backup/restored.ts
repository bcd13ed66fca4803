import { fromHex, type Hex } from '#document/hex.ts'
import type { Action } from '#promise/action.ts'
import { UNSEEN } from '#promise/anchoring.ts'
import type { PayloadStore } from '#promise/ports.ts'
import { type Binding, bind, type Refusals } from '#store/binding.ts'
import type { Database } from '#store/database.ts'
import type { ErasureList } from '#store/erasure-list.ts'
import { createErasures, type Scrubber } from '#store/erasures.ts'
import { itemJoins } from '#store/items.ts'
import { loseStatusLists } from '#store/lost-lists.ts'
import { createIsErased, createPayloadStore } from '#store/payloads.ts'
import { placeBatch } from '#store/sends/write.ts'
import { all, hexOf, hexOrNull, numberOrNull, type Statement, statement } from '#store/sql.ts'
import type { IsBlockErased } from '#store/tombstones.ts'
import type { Side } from '../tables/rows.ts'

/** What was not on the chain when the backup was made; `change` is the id of a change. */
export type Waiting = {
  change: number | null
  kind: Action['kind']
  documentHash: Hex
  root: Hex | null
}

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
  /** Drops changes by their ids. */
  drop(changes: readonly number[]): Promise<void>
  /** @returns The newest block of a send; -1 when there is none. */
  newestBlock(): Promise<number>
  /** @returns Whether it knows a document that was issued alone. */
  isKnown(hash: Hex): Promise<boolean>
  /** @returns Whether a batch is promised. */
  hasBatch(root: Hex): Promise<boolean>
  /** Lists a batch for keys with `admin`, because its tenant is unknown. */
  listBatch(batch: { root: Hex; size: number; manifest: Hex }): Promise<void>
  /** The payloads in the database. */
  store: PayloadStore
  isErased: IsBlockErased
}

const SELECT_WAITING = statement(`
  SELECT change.id AS id, coalesce(change.kind, 'issue') AS kind,
    coalesce(record.hash, batch.root, change.hash) AS hash,
    coalesce(batch.root, change.root) AS root
  FROM (
    SELECT record, batch, change FROM waiting
    UNION ALL
    SELECT member.record, member.batch, member.change
    FROM send JOIN member ON member.send = send.id
    WHERE send.block_number IS NULL AND NOT send.final) AS open
  ${itemJoins('open')}`)
const DROP = statement((sql) => `DELETE FROM waiting WHERE ${sql.isIn('change', 'ids', 'integer')}`)
const DROP_SENT = statement(
  (sql) => `DELETE FROM member WHERE ${sql.isIn('change', 'ids', 'integer')}`,
)
const SELECT_NEWEST = statement('SELECT coalesce(max(block_number), -1) AS newest FROM send')
const IS_KNOWN = statement('SELECT 1 FROM record WHERE hash = :hash AND batch IS NULL')
const HAS_BATCH = statement('SELECT 1 FROM batch WHERE root = :hash AND promised')
const LIST_BATCH = statement(`
  INSERT INTO batch (root, size, manifest, tenant, promised)
  VALUES (:root, :size, :manifest, '', true) ON CONFLICT (root) DO UPDATE SET promised = true`)

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
      return (await database.read(SELECT_WAITING)).map(({ id, kind, hash, root }) => ({
        change: numberOrNull(id),
        kind: kind as Action['kind'],
        documentHash: hexOf(hash),
        root: hexOrNull(root),
      }))
    },
    async drop(changes) {
      const ids = [...changes]
      await database.write(function* () {
        yield* all(DROP, { ids })
        yield* all(DROP_SENT, { ids })
      })
    },
    async newestBlock() {
      const [row] = await database.read(SELECT_NEWEST)
      return Number(row?.newest)
    },
    isKnown: (hash) => finds(IS_KNOWN, hash),
    hasBatch: (root) => finds(HAS_BATCH, root),
    async listBatch({ root, size, manifest }) {
      await database.write(function* () {
        yield* all(LIST_BATCH, { root: fromHex(root), size, manifest: fromHex(manifest) })
        // Its block is unknown.
        yield* placeBatch(root, { blockNumber: 0, blockHash: UNSEEN, transactionHash: null }, true)
      })
    },
    store: createPayloadStore(database),
    isErased: createIsErased(database),
  }
}
