import { groupCalls } from '#base/grouping.ts'
import type { Allowance, RateLimiter } from '#base/rate-limit.ts'
import type { Postgres } from './database.ts'

const WINDOW_MS = 1_000
/** Against the rounding of fractions of a millisecond. */
const EPSILON = 1e-6
const MAX_GROUP = 500
/**
 * Deletes full quotas and returns whether there were any quotas. Skips rows that are being changed,
 * because waiting for them could deadlock.
 */
const SWEEP = `
  WITH swept AS (
    DELETE FROM rate WHERE name IN (
      SELECT name FROM rate WHERE full_at < extract(epoch FROM clock_timestamp()) * 1000
      FOR UPDATE SKIP LOCKED))
  SELECT EXISTS (SELECT FROM rate) AS found`

type Request = { name: string; perSecond: number }

/**
 * As the limiter in memory, for all gateways on one database. While that does not answer, `local`
 * limits the requests of this gateway: reading and verifying must not depend on the database.
 *
 * @param kind Of the names: those of different kinds have different quotas.
 * @param answerWithinMs How long a request waits for the database.
 */
export function createPostgresRateLimiter(
  database: Postgres,
  local: RateLimiter,
  kind: string,
  answerWithinMs = 250,
): RateLimiter {
  let isSweeping = false
  /** The database gets no requests until then; `performance.now()`. */
  let restUntil = 0

  const take = groupCalls<Request, Allowance>({
    maxItems: MAX_GROUP,
    async run(requests) {
      sweepLater()
      return takeAll(database, requests)
    },
  })

  /** Names hold client addresses, so none stays: sweeps follow each other until none is found. */
  function sweepLater(): void {
    if (isSweeping) return
    isSweeping = true
    setTimeout(async () => {
      isSweeping = false
      const [row] = await database.query(SWEEP).catch(() => [])
      if (row?.found) sweepLater()
    }, WINDOW_MS).unref()
  }

  // A killed gateway may have left some.
  sweepLater()
  return {
    async take(name, perSecond) {
      if (performance.now() < restUntil) return local.take(name, perSecond)
      const late = Promise.withResolvers<undefined>()
      const timer = setTimeout(() => late.resolve(undefined), answerWithinMs)
      const shared = take({ name: `${kind} ${name}`, perSecond }).catch(() => undefined)
      const allowance = await Promise.race([shared, late.promise])
      clearTimeout(timer)
      if (allowance !== undefined) return allowance
      restUntil = performance.now() + WINDOW_MS
      return local.take(name, perSecond)
    },
  }
}

/** Takes requests from their quotas, in one statement: of each quota the first ones, if not all. */
async function takeAll({ query }: Postgres, requests: readonly Request[]): Promise<Allowance[]> {
  const byName = Map.groupBy(requests, ({ name }) => name)
  // All gateways lock the rows in this order.
  const names = [...byName.keys()].sort()
  const rows = await query<{ name: string; full_at: number; taken: number; now: number }>(
    `INSERT INTO rate AS quota (name, full_at, taken)
     SELECT item.name, now.ms + least(item.count, item.size) * item.cost, least(item.count, item.size)
     FROM unnest($1::text[], $2::integer[], $3::integer[], $4::double precision[])
         AS item (name, count, size, cost),
       (SELECT extract(epoch FROM clock_timestamp())::double precision * 1000 AS ms) AS now
     ORDER BY item.name COLLATE "C"
     ON CONFLICT (name) DO UPDATE SET (full_at, taken) = (
       SELECT base.ms + fits.count * asked.cost, fits.count
       FROM (SELECT item.count, item.cost
             FROM unnest($1::text[], $2::integer[], $3::integer[], $4::double precision[])
               AS item (name, count, size, cost)
             WHERE item.name = quota.name) AS asked,
         (SELECT extract(epoch FROM clock_timestamp())::double precision * 1000 AS ms) AS now,
         LATERAL (SELECT greatest(quota.full_at, now.ms) AS ms) AS base,
         LATERAL (SELECT greatest(0, least(asked.count,
           floor((now.ms + ${WINDOW_MS} - base.ms) / asked.cost + ${EPSILON})))::integer AS count
         ) AS fits)
     RETURNING name, full_at, taken,
       extract(epoch FROM clock_timestamp())::double precision * 1000 AS now`,
    [
      names,
      names.map((name) => byName.get(name)?.length ?? 0),
      names.map((name) => byName.get(name)?.[0]?.perSecond ?? 1),
      names.map((name) => WINDOW_MS / (byName.get(name)?.[0]?.perSecond ?? 1)),
    ],
  )
  const found = new Map(rows.map((row) => [row.name, { ...row, used: 0 }]))
  return requests.map(({ name, perSecond }) => {
    const row = found.get(name)
    if (row === undefined) throw new TypeError('a quota has no row')
    const isAllowed = row.used++ < row.taken
    const cost = WINDOW_MS / perSecond
    const missing = Math.max(0, row.full_at - row.now)
    return {
      isAllowed,
      remaining: Math.max(0, Math.floor((WINDOW_MS - missing) / cost + EPSILON)),
      resetSeconds: Math.ceil(missing / 1000),
      retryAfterSeconds: Math.max(1, Math.ceil((missing + cost - WINDOW_MS) / 1000)),
    }
  })
}
