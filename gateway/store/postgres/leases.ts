import { randomUUID } from 'node:crypto'
import type { Log } from '#base/log.ts'
import { type Lease, LeaseLost, type Leases } from '#promise/lease.ts'
import type { Postgres } from '../drivers/postgres/database.ts'
import { fence, type Held } from './fence.ts'

/** Notifies gateways that a lease was released. */
export const RELEASED_CHANNEL = 'docreg_lease_released'

/**
 * Leases in a table. Their time is that of the database, so the clocks of gateways do not matter.
 *
 * @param termMs How long a lease lasts without being renewed.
 */
export function createPostgresLeases(database: Postgres, log: Log, termMs: number): Leases {
  const holder = randomUUID()
  const term = `${termMs} milliseconds`

  return {
    async take(names) {
      // Read before the request, because the lease begins before its answer is here.
      const asked = performance.now()
      await database.query(
        'INSERT INTO lease (name) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING',
        [names],
      )
      const [row] = await database.query<{ name: string; token: number }>(
        `UPDATE lease SET token = token + 1, holder = $2,
           expires_at = clock_timestamp() + $3::interval
         WHERE name = (
           SELECT name FROM lease WHERE name = ANY($1) AND expires_at <= clock_timestamp()
           ORDER BY array_position($1, name) LIMIT 1 FOR UPDATE SKIP LOCKED)
         RETURNING name, token`,
        [names, holder, term],
      )
      return row && hold(database, row, { termMs, asked, log })
    },
  }
}

/** Renews a lease until it ends. */
function hold(
  database: Postgres,
  held: Held,
  { termMs, asked, log }: { termMs: number; asked: number; log: Log },
): Lease {
  const { name, token } = held
  const ending = new AbortController()
  const { signal: ended } = ending
  let renewedAt = asked

  const timer = setInterval(() => void renew(), termMs / 3).unref()
  ended.addEventListener('abort', () => clearInterval(timer))

  function lose(reason: string): void {
    if (ended.aborted) return
    log.warn('lease_lost', { name, reason })
    ending.abort()
  }

  async function renew(): Promise<void> {
    // Without the database nobody can take it, but nothing can be written either.
    const timeout = setTimeout(
      () => lose('the database does not answer'),
      Math.max(0, renewedAt + termMs - performance.now()),
    ).unref()
    const now = performance.now()
    try {
      const rows = await database.query(
        `UPDATE lease SET expires_at = clock_timestamp() + $3::interval
         WHERE name = $1 AND token = $2 RETURNING 1`,
        [name, token, `${termMs} milliseconds`],
      )
      if (rows.length > 0) renewedAt = Math.max(renewedAt, now)
      else lose('another gateway has taken it')
    } catch (error) {
      if (performance.now() > renewedAt + termMs) lose(String(error))
    } finally {
      clearTimeout(timeout)
    }
  }

  return {
    ...held,
    ended,
    async assertHeld() {
      try {
        await fence(database.query, held)
      } catch (error) {
        if (error instanceof LeaseLost) lose('another gateway has taken it')
        throw error
      }
    },
    async release() {
      if (ended.aborted) return
      ending.abort()
      await database.query(
        `WITH freed AS (
           UPDATE lease SET expires_at = '-infinity' WHERE name = $1 AND token = $2 RETURNING name)
         SELECT pg_notify('${RELEASED_CHANNEL}', name) FROM freed`,
        [name, token],
      )
    },
  }
}
