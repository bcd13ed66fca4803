import { clock } from '#base/clock.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import type { IdempotencyLog } from '#promise/ports.ts'
import { hexOf } from '../columns.ts'
import type { Database } from '../drivers/sqlite/database.ts'
import { DELETED_PER_CLAIM, periodOf } from '../rules.ts'

/** The idempotency log in the gateway's database. */
export function createSqliteIdempotencyLog({ sqlite, write }: Database): IdempotencyLog {
  const deleteOld = sqlite.prepare(`
    DELETE FROM idempotency WHERE (period, key) IN (
      SELECT period, key FROM idempotency WHERE period < ?
      ORDER BY period, key LIMIT ${DELETED_PER_CLAIM})`)
  const insert = sqlite.prepare(
    'INSERT INTO idempotency (period, key, document_hash) VALUES (?, ?, ?)',
  )
  const select = sqlite.prepare(
    'SELECT document_hash FROM idempotency WHERE period = ? AND key = ?',
  )

  function find(key: Uint8Array, period: number): Hex | undefined {
    const row = select.get(period, key) ?? select.get(period - 1, key)
    return row && hexOf(row.document_hash)
  }

  return {
    claim: (key, documentHash) =>
      write(() => {
        const period = periodOf(clock.now())
        const first = find(key, period)
        if (first !== undefined) return first
        deleteOld.run(period - 1)
        insert.run(period, key, fromHex(documentHash))
        return documentHash
      }),
    has: async (key) => find(key, periodOf(clock.now())) !== undefined,
  }
}
