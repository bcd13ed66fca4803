import { randomUUID } from 'node:crypto'
import type { Log } from '#base/log.ts'
import { type Held, type Lease, LeaseLost, type Leases } from '#promise/lease.ts'
import { assertHolds, type Database } from './database.ts'
import { first, notify, statement, type Work } from './sql.ts'

/** Notifies gateways that a lease was released. */
export const RELEASED_CHANNEL = 'docreg_lease_released'

const INSERT = statement(
  (sql) => `
    INSERT INTO lease (name) SELECT item.name FROM ${sql.items({ name: 'text' })} WHERE true
    ON CONFLICT DO NOTHING`,
)
const SELECT_FREE = statement(
  (sql) => `
    SELECT name FROM lease WHERE name = :name AND expires_at <= ${sql.nowMs} ${sql.skipLocked}`,
)
const TAKE = statement(
  (sql) => `
    UPDATE lease SET token = token + 1, holder = :holder,
      expires_at = ${sql.nowMs} + ${sql.value('term', 'integer')}
    WHERE name = :name RETURNING name, token`,
)
const RENEW = statement(
  (sql) => `
    UPDATE lease SET expires_at = ${sql.nowMs} + ${sql.value('term', 'integer')}
    WHERE name = :name AND token = :token RETURNING name`,
)
const FREE = statement(
  'UPDATE lease SET expires_at = 0 WHERE name = :name AND token = :token RETURNING name',
)

/**
 * Leases in a table. Their time is that of the database, so the clocks of gateways do not matter.
 *
 * @param termMs How long a lease lasts without being renewed, in milliseconds.
 */
export function createLeases(database: Database, log: Log, termMs: number): Leases {
  const holder = randomUUID()

  return {
    async take(names) {
      // This is read before the request, because the lease begins before its answer arrives.
      const asked = performance.now()
      const rows = names.map((name) => ({ name }))
      await database.change(INSERT, {}, rows)
      const held = await database.write(() => take(names, { holder, term: termMs }))
      return held && hold(database, held, { termMs, asked, log })
    },
  }
}

function* take(
  names: readonly string[],
  by: { holder: string; term: number },
): Work<Held | undefined> {
  for (const name of names)
    if (yield* first(SELECT_FREE, { name })) {
      const row = yield* first(TAKE, { name, ...by })
      return row && { name, token: Number(row.token) }
    }
  return undefined
}

function* free({ name, token }: Held): Work<void> {
  const row = yield* first(FREE, { name, token })
  if (row) yield* notify(RELEASED_CHANNEL, name)
}

/** Renews a lease until it ends. */
function hold(
  database: Database,
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
    // Without the database nobody can take the lease, but nothing can be written either.
    const timeout = setTimeout(
      () => lose('the database does not answer'),
      Math.max(0, renewedAt + termMs - performance.now()),
    ).unref()
    const now = performance.now()
    try {
      const rows = await database.change(RENEW, { name, token, term: termMs })
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
        await assertHolds(database, held)
      } catch (error) {
        if (error instanceof LeaseLost) lose('another gateway has taken it')
        throw error
      }
    },
    async release() {
      if (ended.aborted) return
      ending.abort()
      await database.write(() => free(held))
    },
  }
}
