import { clock } from '#base/clock.ts'
import type { Database } from './database.ts'
import { numberOrNull, statement } from './sql.ts'

/** The backups that the service made itself. */
export type Backups = {
  /** Records that one has just been made. */
  note(): Promise<void>
  /** @returns When the last one was made, in milliseconds of the Unix epoch; `null` = none. */
  last(): Promise<number | null>
}

const NOTE = statement(`
  INSERT INTO backup (id, made_at) VALUES (1, :now)
  ON CONFLICT (id) DO UPDATE SET made_at = excluded.made_at`)
const SELECT = statement('SELECT made_at FROM backup')

export function createBackups(database: Database): Backups {
  return {
    async note() {
      await database.change(NOTE, { now: clock.now() })
    },
    async last() {
      const [row] = await database.read(SELECT)
      return numberOrNull(row?.made_at ?? null)
    },
  }
}
