import type { DatabaseSync } from 'node:sqlite'
import type { ListedStatus } from '#promise/document-index.ts'
import { MAX_SCANNED_BATCHES } from '../rules.ts'

// A change of a whole batch is one row of the table of batches: its documents keep a status of their
// own.

/** Whether a document is in no batch, or in one that was promised. */
export const IS_PROMISED =
  '(batch IS NULL OR batch NOT IN (SELECT id FROM batch WHERE promised = 0))'

/** Whether a document is in no batch, or in one that is on the chain and unchanged. */
export const IS_UNCHANGED = `(batch IS NULL
  OR batch NOT IN (SELECT id FROM batch WHERE status <> 0 OR block_number IS NULL))`

/** Batches that have a status as a whole, and those of their documents that are not found by it. */
type Whole = { batches: string; documents: string }

const changed = (code: number): Whole => ({
  batches: `status = ${code} AND status <> 0 AND block_number IS NOT NULL`,
  documents: `+status <> ${code}`,
})

const WHOLE: Partial<Record<ListedStatus, Whole>> = {
  pending: { batches: 'block_number IS NULL', documents: 'true' },
  suspended: changed(1),
  revoked: changed(2),
  superseded: changed(3),
}

/** @returns The condition that a document is in a batch with this status; `false` for none. */
export function inBatchWith(status: ListedStatus): string {
  const whole = WHOLE[status]
  return whole ? `batch IN (SELECT id FROM batch WHERE promised = 1 AND ${whole.batches})` : 'false'
}

/** Conditions that each find the documents of one batch. */
type BatchDrives = {
  drives: { sql: string; values: number[] }[]
  /** Below this are documents of batches that were left out; 0 = of none. */
  reached: number
}

/** @returns A function that finds the newest batches with a status, in places below one. */
export function createBatchDrives(
  sqlite: DatabaseSync,
): (status: ListedStatus, before: number) => BatchDrives {
  const statements = new Map(
    Object.entries(WHOLE).map(([status, { batches }]) => [
      status,
      sqlite.prepare(`
        SELECT id, newest FROM (
          SELECT id, (SELECT max(document.id) FROM document
            WHERE document.batch = batch.id AND document.id < ?) AS newest
          FROM batch WHERE promised = 1 AND ${batches})
        WHERE newest IS NOT NULL ORDER BY newest DESC LIMIT ${MAX_SCANNED_BATCHES + 1}`),
    ]),
  )
  return (status, before) => {
    const rows = statements.get(status)?.all(before) ?? []
    const rest = rows[MAX_SCANNED_BATCHES]
    return {
      drives: rows.slice(0, MAX_SCANNED_BATCHES).map(({ id }) => ({
        sql: `batch = ? AND ${WHOLE[status]?.documents}`,
        values: [Number(id)],
      })),
      reached: rest ? Number(rest.newest) + 1 : 0,
    }
  }
}
