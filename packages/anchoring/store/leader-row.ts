import type { Database } from './database.ts'
import { statement } from './sql.ts'

const WRITE = statement(
  (sql) => `
    INSERT INTO leader (id, state, written_at) VALUES (1, :state, ${sql.nowMs})
    ON CONFLICT (id) DO UPDATE SET state = excluded.state, written_at = excluded.written_at`,
)
const READ = statement((sql) => `SELECT state, ${sql.nowMs} - written_at AS age FROM leader`)

/** What the gateway that leads tells the others. */
export function createLeaderRow(database: Database) {
  return {
    /** @param state JSON. */
    async write(state: string): Promise<void> {
      await database.change(WRITE, { state })
    },
    /**
     * @returns Its age in milliseconds by the clock of the database; `undefined` before the first.
     */
    async read(): Promise<{ state: string; age: number } | undefined> {
      const [row] = await database.read(READ)
      return row && { state: String(row.state), age: Number(row.age) }
    },
  }
}
