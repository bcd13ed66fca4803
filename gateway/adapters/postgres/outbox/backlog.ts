import type { Backlog } from '../../../issue/ports.ts'
import type { Postgres } from '../database.ts'
import { lockOutcomes, writeOutcome } from './outcomes.ts'
import { INTENT_COLUMNS, IS_KEY, intentOf, KEYS, keysOf } from './rows.ts'

export function createBacklog({ query, transaction }: Postgres): Backlog {
  return {
    async queued() {
      const rows = await query(`
        SELECT ${INTENT_COLUMNS}, aside_until FROM intent
        WHERE plan IS NULL AND block_number IS NULL ORDER BY id`)
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
