import type { Postgres } from './database.ts'
import type { Query } from './query.ts'

/** Runs several reads that see the database at one moment. */
export function inSnapshot<T>(
  { transaction }: Pick<Postgres, 'transaction'>,
  work: (query: Query) => Promise<T>,
): Promise<T> {
  return transaction(async (query) => {
    await query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY')
    return work(query)
  })
}
