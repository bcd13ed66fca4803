import { type Lease, LeaseLost } from '#promise/lease.ts'
import type { Postgres } from '../drivers/postgres/database.ts'
import type { Query } from '../drivers/postgres/query.ts'

/** What identifies the holder of a lease. */
export type Held = Pick<Lease, 'name' | 'token'>

/**
 * Keeps a lease from changing hands until the transaction ends.
 *
 * @throws {LeaseLost} when it has changed hands.
 */
export async function fence(query: Query, { name, token }: Held): Promise<void> {
  const rows = await query('SELECT 1 FROM lease WHERE name = $1 AND token = $2 FOR KEY SHARE', [
    name,
    token,
  ])
  if (rows.length === 0) throw new LeaseLost(name)
}

/** @returns The same database, for the holder of a lease: it changes nothing once that is lost. */
export function fenced(
  database: Postgres,
  lease: Pick<Lease, 'name' | 'token' | 'assertHeld'>,
): Postgres {
  const transaction: Postgres['transaction'] = (work) =>
    database.transaction(async (query) => {
      await fence(query, lease).catch((error) => {
        // The holder notices it too.
        if (error instanceof LeaseLost) lease.assertHeld().catch(() => {})
        throw error
      })
      return work(query)
    })

  return {
    ...database,
    transaction,
    query: (text, values) =>
      isRead(text) ? database.query(text, values) : transaction((query) => query(text, values)),
  }
}

const isRead = (text: string) => /^\s*SELECT\b/i.test(text)
