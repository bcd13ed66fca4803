import { setTimeout as sleep } from 'node:timers/promises'
import { fromHex, type Hex } from '#document/hex.ts'
import { type ErasedFrom, type Erasure, REMAINS_IN } from '#promise/erase.ts'
import { IssueError } from '#promise/errors.ts'
import { hexOf } from '../columns.ts'
import type { Postgres } from '../drivers/postgres/database.ts'
import { ERASURE_CHANNEL } from '../drivers/postgres/known-erasures.ts'
import type { Query, Row } from '../drivers/postgres/query.ts'
import type { ErasureList, ListedErasures } from '../erasure-list.ts'
import { MAX_ERASED_TOGETHER } from '../rules.ts'

const POLL_INTERVAL_MS = 100
/** Longer than any transaction may take. */
const MAX_WAIT_MS = 30_000

/**
 * Erasures in PostgreSQL. A finished one is gone for every statement and for `pg_dump`. The server
 * cannot be told to overwrite its files, so the receipt says where bytes may be left; also of a
 * payload on Kubo, which the outbox had until it was final.
 */
export function createPostgresErasures(
  {
    query,
    transaction,
    listen,
    brief,
  }: Pick<Postgres, 'query' | 'transaction' | 'listen' | 'brief'>,
  list: ErasureList,
): ListedErasures {
  /** Transactions that began before the tombstone may still add a document: waits for their end. */
  async function awaitOlderTransactions(hashes: readonly Uint8Array[]): Promise<void> {
    for (const end = performance.now() + MAX_WAIT_MS; performance.now() < end; ) {
      const [row] = await query(
        `SELECT bool_and(written_by < pg_snapshot_xmin(pg_current_snapshot())) AS ended
         FROM erasure WHERE hash = ANY($1)`,
        [hashes],
      )
      if (row?.ended !== false) return
      await sleep(POLL_INTERVAL_MS)
    }
    throw new IssueError('store_unavailable', 'an older transaction does not end')
  }

  return {
    async begin(documentHash, tenant) {
      const requestedAt = Date.now()
      list.add(documentHash, requestedAt)
      return transaction(async (within) => {
        await mark(within, documentHash, requestedAt, tenant)
        const [row] = await within('SELECT * FROM erasure WHERE hash = $1', [fromHex(documentHash)])
        return erasureOf(row as Row)
      })
    },
    async find(documentHash) {
      const [row] = await query('SELECT * FROM erasure WHERE hash = $1', [fromHex(documentHash)])
      return row && erasureOf(row)
    },
    async unfinished() {
      const rows = await brief(() =>
        query(`
          SELECT hash FROM erasure WHERE erased_at IS NULL
          ORDER BY requested_at LIMIT ${MAX_ERASED_TOGETHER}`),
      )
      return rows.map(({ hash }) => hexOf(hash))
    },
    async finish(documentHashes, removed) {
      const hashes = documentHashes.map(fromHex)
      await awaitOlderTransactions(hashes)
      await transaction(async (within) => {
        await within('SELECT lock_outcomes()')
        await within('DELETE FROM block WHERE hash = ANY($1)', [hashes])
        await within(
          `UPDATE intent SET sealed = NULL
           WHERE document_hash = ANY($1) AND kind = 'issue' AND sealed IS NOT NULL`,
          [hashes],
        )
        await within(
          `UPDATE erasure SET erased_at = coalesce(erased_at, $3),
             from_kubo = erasure.from_kubo OR item.from_kubo
           FROM unnest($1::bytea[], $2::boolean[]) AS item (hash, from_kubo)
           WHERE erasure.hash = item.hash`,
          [hashes, documentHashes.map((hash) => removed.has(hash)), Date.now()],
        )
      })
    },
    listen: (begun) => listen(ERASURE_CHANNEL, begun),
    async mergeList() {
      const listed = list.read().map(fromHex)
      const wanted = await query(
        `SELECT DISTINCT item.hash FROM unnest($1::bytea[]) AS item (hash)
         WHERE NOT EXISTS (SELECT 1 FROM erasure WHERE erasure.hash = item.hash)
           OR EXISTS (SELECT 1 FROM block WHERE block.hash = item.hash)
           OR EXISTS (SELECT 1 FROM intent WHERE document_hash = item.hash AND kind = 'issue'
             AND sealed IS NOT NULL)`,
        [listed],
      )
      for (const { hash } of wanted)
        await transaction((within) => mark(within, hexOf(hash), Date.now(), null))
      return wanted.length
    },
  }
}

function erasureOf({ hash, erased_at, from_database, from_kubo }: Row): Erasure {
  const removed: ErasedFrom[] = []
  if (from_database) removed.push('database')
  if (from_kubo) removed.push('kubo')
  return {
    documentHash: hexOf(hash),
    erasedAt: erased_at as number | null,
    removed,
    remains: REMAINS_IN,
  }
}

/** Deletes a document's bytes, and notes its erasure. */
async function mark(
  query: Query,
  documentHash: Hex,
  requestedAt: number,
  tenant: string | null,
): Promise<void> {
  const hash = fromHex(documentHash)
  await query('INSERT INTO tombstone VALUES ($1) ON CONFLICT DO NOTHING', [hash])
  const stored = await query('DELETE FROM block WHERE hash = $1 RETURNING 1', [hash])
  const promised = await query(
    `UPDATE intent SET sealed = NULL
     WHERE document_hash = $1 AND kind = 'issue' AND sealed IS NOT NULL RETURNING 1`,
    [hash],
  )
  await query('UPDATE document SET subject = NULL, category = NULL WHERE document_hash = $1', [
    hash,
  ])
  const hadBytes = stored.length + promised.length > 0
  await query(
    `INSERT INTO erasure (hash, requested_at, from_database, tenant) VALUES ($1, $2, $3, $4)
     ON CONFLICT (hash) DO UPDATE SET erased_at = NULL, from_database = true,
       written_by = pg_current_xact_id()
     WHERE $3`,
    [hash, requestedAt, hadBytes, tenant],
  )
}
