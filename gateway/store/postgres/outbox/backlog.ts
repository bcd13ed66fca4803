import type { Hex } from '#document/hex.ts'
import type { Backlog } from '#promise/ports.ts'
import { bytesOf } from '../columns.ts'
import type { Postgres } from '../database.ts'
import { lockOutcomes, writeOutcome } from './outcomes.ts'
import { INTENT_COLUMNS, IS_KEY, intentOf, KEYS, keysOf } from './rows.ts'

/** @param account Whose intents; absent = all. */
export function createBacklog({ query, transaction }: Postgres, account?: Hex): Backlog {
  return {
    async queued() {
      const rows = await query(
        `SELECT ${INTENT_COLUMNS}, aside_until FROM intent
        WHERE plan IS NULL AND block_number IS NULL AND ($1::bytea IS NULL OR
          account = $1 AND NOT waits_for_issue(kind, document_hash, root, account))
        ORDER BY id`,
        [bytesOf(account)],
      )
      return rows.map((row) => ({
        intent: intentOf(row),
        asideUntil: row.aside_until as number | null,
      }))
    },
    async setAside(intents, until) {
      await query(`UPDATE intent SET aside_until = $3 FROM ${KEYS} WHERE ${IS_KEY}`, [
        ...keysOf(intents),
        until,
      ])
    },
    resolve: (resolution) =>
      transaction(async (within) => {
        await lockOutcomes(within)
        await writeOutcome(within, resolution)
      }),
  }
}
