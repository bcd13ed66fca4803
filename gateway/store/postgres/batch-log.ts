import { fromHex } from '#document/hex.ts'
import {
  type BatchClaim,
  type BatchList,
  type BatchLog,
  intentOfBatch,
  type KnownBatch,
} from '#promise/batch-log.ts'
import type { Postgres } from '../drivers/postgres/database.ts'
import type { Query } from '../drivers/postgres/query.ts'
import { batchOf } from '../rows.ts'
import { fence } from './fence.ts'
import { NOW } from './index-documents.ts'
import { insertIssues } from './outbox/issues.ts'

/** The requested batches in PostgreSQL. */
export function createPostgresBatchLog(database: Postgres): BatchLog & BatchList {
  return { ...createClaims(database), ...createList(database) }
}

function createClaims({ query, transaction }: Postgres): BatchLog {
  async function find(within: Query, request: Uint8Array): Promise<BatchClaim | undefined> {
    const [row] = await within(
      'SELECT content, checked_at, promised FROM batch_request WHERE request = $1',
      [request],
    )
    return (
      row && {
        content: row.content as Uint8Array,
        checkedAt: Number(row.checked_at),
        isPromised: row.promised === true,
      }
    )
  }

  return {
    find: (request) => find(query, request),
    async claim(request, claim) {
      await query(
        `INSERT INTO batch_request (request, content, checked_at) VALUES ($1, $2, $3)
         ON CONFLICT DO NOTHING`,
        [request, claim.content, claim.checkedAt],
      )
      return (await find(query, request)) ?? { ...claim, isPromised: false }
    },
    promise: (request, batch, lease) =>
      transaction(async (within) => {
        if (lease) await fence(within, lease)
        await within('UPDATE batch_request SET promised = true WHERE request = $1', [request])
        const { id } = await addBatch(within, batch)
        const marked = await within(
          `UPDATE batch SET promised = true, promised_at = ${NOW}
           WHERE id = $1 AND NOT promised RETURNING 1`,
          [id],
        )
        // The tenant of a batch that was restored from the chain is not known until its request
        // comes.
        await within("UPDATE batch SET tenant = $2 WHERE id = $1 AND tenant = ''", [
          id,
          batch.tenant,
        ])
        await insertIssues(within, [{ intent: intentOfBatch(batch), promised: true }])
        return marked.length > 0
      }),
  }
}

/** Adds a batch, not promised yet, unless it is there. For use in a transaction. */
export async function addBatch(
  query: Query,
  { root, size, manifest, tenant }: Omit<KnownBatch, 'id'>,
): Promise<{ id: number; isNew: boolean }> {
  const added = await query(
    `INSERT INTO batch (root, size, manifest, tenant) VALUES ($1, $2, $3, $4)
     ON CONFLICT DO NOTHING RETURNING id`,
    [fromHex(root), size, fromHex(manifest), tenant],
  )
  const [row] =
    added.length > 0 ? added : await query('SELECT id FROM batch WHERE root = $1', [fromHex(root)])
  return { id: Number(row?.id), isNew: added.length > 0 }
}

function createList({ query }: Postgres): BatchList {
  const columns = 'id, root, size, manifest, tenant'
  return {
    async list(tenant, before = Number.MAX_SAFE_INTEGER, limit) {
      const rows = await query(
        `SELECT ${columns} FROM batch
         WHERE id < $1 AND promised AND ($2::text IS NULL OR tenant = $2)
         ORDER BY id DESC LIMIT $3`,
        [before, tenant, limit],
      )
      return rows.map(batchOf)
    },
    async get(root) {
      const [row] = await query(`SELECT ${columns} FROM batch WHERE root = $1 AND promised`, [
        fromHex(root),
      ])
      return row && batchOf(row)
    },
  }
}
