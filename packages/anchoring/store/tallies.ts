import { fromHex } from '#document/hex.ts'
import type { Action } from '#promise/action.ts'
import type { Tallied, Tallies } from '#promise/tallies.ts'
import type { Database } from './database.ts'
import { all, each, first, statement, type Work } from './sql.ts'

// How many documents a tenant issued and revoked on each day: few rows, so that nobody has to
// count millions.

const ADD = statement(
  (sql) => `
    INSERT INTO tally (day, tenant, kind, count)
    SELECT ${sql.now} / 86400, item.tenant, item.kind, item.count
    FROM ${sql.items({ tenant: 'text', kind: 'text', count: 'integer' })} WHERE true ORDER BY place
    ON CONFLICT (day, tenant, kind) DO UPDATE SET count = tally.count + excluded.count`,
)
const SIZE = statement('SELECT size FROM batch WHERE root = :root')
const SELECT = statement(
  (sql) => `
    SELECT day, kind, sum(count) AS count FROM tally
    WHERE day >= :day AND (${sql.value('tenant', 'text')} IS NULL OR tenant = :tenant)
    GROUP BY day, kind ORDER BY day, kind`,
)

/** Counts what got into a block. For use under the lock of outcomes. */
export function* tally(changes: readonly { action: Action; kind: Tallied }[]): Work<void> {
  const counts = new Map<string, { tenant: string; kind: Tallied; count: number }>()
  for (const { action, kind } of changes) {
    const { tenant = '', root, documentHash } = action
    const key = `${kind} ${tenant}`
    const count = counts.get(key) ?? { tenant, kind, count: 0 }
    count.count += root === documentHash ? yield* sizeOf(action) : 1
    counts.set(key, count)
  }
  yield* each(ADD, [...counts.values()])
}

function* sizeOf(action: Action): Work<number> {
  if (action.kind === 'issue') return action.validUntil
  const batch = yield* first(SIZE, { root: fromHex(action.documentHash) })
  return Number(batch?.size ?? 1)
}

export function createTallies(database: Database): Tallies {
  return {
    async since(day, tenant) {
      const rows = await database.snapshot(() => all(SELECT, { day, tenant }))
      return rows.map((row) => ({
        day: Number(row.day),
        kind: row.kind as Tallied,
        count: Number(row.count),
      }))
    },
  }
}
