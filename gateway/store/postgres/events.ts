import type { EventLog, EventPage, EventQuery, EventType } from '#events/events.ts'
import type { Postgres } from '../drivers/postgres/database.ts'
import { inSnapshot } from '../drivers/postgres/database.ts'
import type { Query } from '../drivers/postgres/query.ts'
import { eventPageOf } from '../rows.ts'
import { MAX_SCANNED_EVENTS, PRUNED_AT_ONCE } from '../rules.ts'
import type { BlindTenant } from '../stores.ts'

export const EVENT_COLUMNS = [
  ...['id', 'type', 'time', 'document_hash', 'block_number', 'block_hash', 'transaction_hash'],
  'tenant',
]
  .map((name) => `event.${name}`)
  .join(', ')
/**
 * Whether an event is of the tenant in `$1`, whose blind indexes are `$2`, and of the types `$3`.
 * It is of the tenant that issued the document, or else of the one that requested the change.
 */
export const IS_WANTED = `($1::text IS NULL OR CASE WHEN event.owner IS NULL
    THEN event.tenant = $1 ELSE event.owner = ANY($2::bigint[]) END)
  AND ($3::text[] IS NULL OR event.type = ANY($3))`

/** The number of the first event that a webhook may have still to be sent. */
const FIRST_UNSENT = `coalesce(
  (SELECT min(event) FROM delivery WHERE webhook = webhook.id), cursor + 1)`

/** Values for {@link IS_WANTED}. */
export function wantedValues(
  tenant: string | null,
  types: readonly EventType[] | null,
  blind: BlindTenant,
): unknown[] {
  return [tenant, tenant === null ? [] : [...blind(tenant)], types && [...types]]
}

/** The log of events in PostgreSQL. Triggers write it. */
export function createPostgresEventLog(database: Postgres, blind: BlindTenant): EventLog {
  return {
    read: (wanted) => inSnapshot(database, (query) => read(query, wanted, blind)),
    async leaveBehind(before) {
      const left = await database.query(
        `UPDATE webhook SET disabled_reason = 'behind', epoch = epoch + 1
         WHERE disabled_reason IS NULL
           AND (SELECT time FROM event WHERE id >= ${FIRST_UNSENT} ORDER BY id LIMIT 1) < $1
         RETURNING id`,
        [before],
      )
      return left.map(({ id }) => String(id))
    },
    async prune(before) {
      const deleted = await database.query(
        `DELETE FROM event WHERE time < $1 AND id IN (
           SELECT id FROM event WHERE id < (SELECT max(id) FROM event) AND id < (
             SELECT coalesce(min(${FIRST_UNSENT}), ${Number.MAX_SAFE_INTEGER})
             FROM webhook WHERE disabled_reason IS NULL)
           ORDER BY id LIMIT ${PRUNED_AT_ONCE})
         RETURNING 1`,
        [before],
      )
      return deleted.length === PRUNED_AT_ONCE
    },
  }
}

async function read(
  query: Query,
  wanted: EventQuery,
  blind: BlindTenant,
): Promise<EventPage | 'unknown_event'> {
  const { after, types, tenant, limit } = wanted
  if (after) {
    const [row] = await query('SELECT time FROM event WHERE id = $1', [after.number])
    if (row?.time !== after.time) return 'unknown_event'
  }
  const from = after?.number ?? 0
  const rows = await query(
    `SELECT ${EVENT_COLUMNS} FROM (
       SELECT * FROM event WHERE id > $4 ORDER BY id LIMIT ${MAX_SCANNED_EVENTS}) AS event
     WHERE ${IS_WANTED} ORDER BY id LIMIT $5`,
    [...wantedValues(tenant ?? null, types ?? null, blind), from, limit],
  )
  const [scanned] = await query(
    `SELECT id, time FROM (
       SELECT id, time FROM event WHERE id > $1 ORDER BY id LIMIT ${MAX_SCANNED_EVENTS}) AS looked
     ORDER BY id DESC LIMIT 1`,
    [from],
  )
  const [newest] = await query('SELECT max(id) AS id FROM event')
  return eventPageOf(rows, wanted, { scanned, newest: newest?.id as number | null })
}
