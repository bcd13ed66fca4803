import type { EventLog, EventPage, EventQuery } from '#events/events.ts'
import type { Database } from '../drivers/sqlite/database.ts'
import { eventPageOf } from '../rows.ts'
import { MAX_SCANNED_EVENTS, PRUNED_AT_ONCE } from '../rules.ts'
import type { BlindTenant } from '../stores.ts'

/** Without `owner`, a number of 64 bits. */
export const EVENT_COLUMNS =
  'id, type, time, document_hash, block_number, block_hash, transaction_hash, tenant'
/**
 * Whether an event is of `:tenant`, whose blind indexes are `:owners`: of who issued the document,
 * or else of who requested the change.
 */
export const IS_OF_TENANT = `(:tenant IS NULL OR iif(owner IS NULL, tenant = :tenant,
      owner IN (SELECT value FROM json_each(:owners))))`

/** The number of the first event that a webhook may have still to be sent. */
const FIRST_UNSENT = `coalesce(
      (SELECT min(event) FROM delivery WHERE webhook = webhook.id), cursor + 1)`

/** JSON numbers of 64 bits, which SQLite reads exactly. */
export function ownersOf(tenant: string | null, blind: BlindTenant): string {
  return `[${tenant === null ? '' : blind(tenant).join(',')}]`
}

/** The log of events in the gateway's database. Triggers in the schema write it. */
export function createSqliteEventLog({ sqlite, write }: Database, blind: BlindTenant): EventLog {
  const selectTime = sqlite.prepare('SELECT time FROM event WHERE id = ?')
  const select = sqlite.prepare(`
    SELECT ${EVENT_COLUMNS} FROM (
      SELECT * FROM event WHERE id > :after ORDER BY id LIMIT ${MAX_SCANNED_EVENTS})
    WHERE ${IS_OF_TENANT}
      AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types)))
    ORDER BY id LIMIT :limit`)
  const selectScanned = sqlite.prepare(`
    SELECT id, time FROM (
      SELECT id, time FROM event WHERE id > ? ORDER BY id LIMIT ${MAX_SCANNED_EVENTS})
    ORDER BY id DESC LIMIT 1`)
  const selectNewest = sqlite.prepare('SELECT max(id) AS id FROM event')
  const prune = sqlite.prepare(`
    DELETE FROM event WHERE time < ? AND id IN (
      SELECT id FROM event WHERE id < (SELECT max(id) FROM event) AND id < (
        SELECT coalesce(min(${FIRST_UNSENT}), ${Number.MAX_SAFE_INTEGER})
        FROM webhook WHERE disabled_reason IS NULL)
      ORDER BY id LIMIT ${PRUNED_AT_ONCE})`)
  const leaveBehind = sqlite.prepare(`
    UPDATE webhook SET disabled_reason = 'behind', epoch = epoch + 1
    WHERE disabled_reason IS NULL
      AND (SELECT time FROM event WHERE id >= ${FIRST_UNSENT} ORDER BY id LIMIT 1) < ?
    RETURNING id`)

  function read(wanted: EventQuery): EventPage | 'unknown_event' {
    const { after, types, tenant, limit } = wanted
    if (after && selectTime.get(after.number)?.time !== after.time) return 'unknown_event'
    const from = after?.number ?? 0
    const rows = select.all({
      after: from,
      tenant: tenant ?? null,
      owners: ownersOf(tenant ?? null, blind),
      types: types ? JSON.stringify(types) : null,
      limit,
    })
    const scanned = rows.length < limit ? selectScanned.get(from) : undefined
    const newest = selectNewest.get()?.id as number | null
    return eventPageOf(rows, wanted, { scanned, newest })
  }

  return {
    // In a write, which resolves when everything before it is on the disk.
    read: (query) => write(() => read(query)),
    leaveBehind: (before) => write(() => leaveBehind.all(before).map(({ id }) => String(id))),
    prune: (before) => write(() => prune.run(before).changes === PRUNED_AT_ONCE),
  }
}
