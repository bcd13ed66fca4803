import type { Backlog } from '#promise/ports.ts'
import type { Database } from '../database.ts'
import type { WriteOutcome } from './outcomes.ts'
import { INTENT_COLUMNS, intentOf, type Row } from './rows.ts'

export function createBacklog({ sqlite, write }: Database, writeOutcome: WriteOutcome): Backlog {
  const select = sqlite.prepare(`
    SELECT ${INTENT_COLUMNS}, aside_until FROM intent
    WHERE plan IS NULL AND block_number IS NULL ORDER BY id`)
  const setAside = sqlite.prepare(
    'UPDATE intent SET aside_until = ? WHERE document_hash = ? AND kind = ?',
  )

  return {
    queued: async () =>
      (select.all() as Row[]).map((row) => ({
        intent: intentOf(row),
        asideUntil: row.aside_until as number | null,
      })),
    setAside: (intents, until) =>
      write(() => {
        for (const { documentHash, kind } of intents) setAside.run(until, documentHash, kind)
      }),
    resolve: (resolution) => write(() => writeOutcome(resolution)),
  }
}
