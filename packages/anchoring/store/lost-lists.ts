import type { Database } from './database.ts'
import { all, first, statement } from './sql.ts'

/**
 * The maximum number of documents in a list. With so few of its indexes taken, a document seldom
 * finds both of its own taken.
 */
export const MAX_LISTED = 2 ** 14

const COUNT_KNOWN = statement(`
  SELECT coalesce(max(list), 0) + 1 + (SELECT count(*) FROM record) / ${MAX_LISTED} AS lists
  FROM status_list`)
const LOSE = statement(`
  INSERT INTO status_list (list, used, lost) VALUES (:list, 0, true)
  ON CONFLICT (list) DO UPDATE SET lost = true`)

/**
 * Marks as lost every list that may have been in use, after a database was rebuilt. Nobody knows
 * which documents got a place since the backup, or before the loss.
 */
export async function loseStatusLists({ write }: Pick<Database, 'write'>): Promise<void> {
  await write(function* () {
    const row = yield* first(COUNT_KNOWN)
    for (let list = 1; list <= Number(row?.lists); list++) yield* all(LOSE, { list })
  })
}
