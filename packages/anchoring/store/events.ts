import {
  type DocumentEvent,
  EVENTS,
  type EventLog,
  type EventPage,
  type EventQuery,
  type EventType,
  formatEventId,
} from '#events/events.ts'
import { parseActor } from '#promise/acts.ts'
import type { Database } from './database.ts'
import {
  all,
  type Dialect,
  first,
  hexOf,
  hexOrNull,
  type Row,
  statement,
  type Values,
  type Work,
} from './sql.ts'

/** The maximum number of events that one page scans, whether or not they match. */
const MAX_SCANNED_EVENTS = 5_000
/** The number of events that one write deletes, which takes some milliseconds. */
const PRUNED_AT_ONCE = 500

/** @returns The blind indexes of a tenant, one for each issuer secret. */
export type BlindTenant = (tenant: string) => readonly bigint[]

/** The act behind each type of event. */
const ACT_OF = Object.entries(EVENTS)
  .filter(([, act]) => act !== null)
  .map(([type, act]) => `WHEN '${type}' THEN '${act}'`)
  .join(' ')

/** Who caused an event: the newest such act before it. That of issuing is in the index. */
const ACTOR = `CASE WHEN event.type = 'document.issued' THEN (
    SELECT document.actor FROM document
    WHERE document.document_hash = event.document_hash AND document.batch IS NULL LIMIT 1)
  ELSE (
    SELECT act.actor FROM act
    WHERE act.document_hash = event.document_hash AND act.time * 1000 <= event.time
      AND act.kind = CASE event.type ${ACT_OF} END
    ORDER BY act.id DESC LIMIT 1) END`

/** The columns except `owner`, a 64-bit number. */
export const EVENT_COLUMNS = [
  'id',
  'type',
  'time',
  'document_hash',
  'block_number',
  'block_hash',
  'transaction_hash',
  'tenant',
]
  .map((name) => `event.${name}`)
  .concat(`${ACTOR} AS actor`)
  .join(', ')

/**
 * Whether an event is for `:tenant`, whose blind indexes are `:owners`, and one of `:types`. It is
 * for the tenant that issued the document, or otherwise for the one that requested the change.
 */
export const isWanted = (sql: Dialect) => `
  (${sql.value('tenant', 'text')} IS NULL OR CASE WHEN event.owner IS NULL
    THEN event.tenant = :tenant ELSE ${sql.isIn('event.owner', 'owners', 'integer')} END)
  AND (:anyType OR ${sql.isIn('event.type', 'types', 'text')})`

/** @returns The values for {@link isWanted}. */
export function wantedValues(
  tenant: string | null,
  types: readonly EventType[] | null,
  blind: BlindTenant,
): Values {
  return {
    tenant,
    owners: tenant === null ? [] : [...blind(tenant)],
    anyType: types === null,
    types: [...(types ?? [])],
  }
}

/** The number of the first event that may still have to be sent to a webhook. */
const FIRST_UNSENT = `coalesce(
  (SELECT min(event) FROM delivery WHERE webhook = webhook.id), cursor + 1)`

const SELECT_TIME = statement('SELECT time FROM event WHERE id = :id')
const SELECT = statement(
  (sql) => `
    SELECT ${EVENT_COLUMNS} FROM (
      SELECT * FROM event WHERE id > :after ORDER BY id LIMIT ${MAX_SCANNED_EVENTS}) AS event
    WHERE ${isWanted(sql)} ORDER BY id LIMIT :limit`,
)
const SELECT_SCANNED = statement(`
  SELECT id, time FROM (
    SELECT id, time FROM event WHERE id > :after ORDER BY id LIMIT ${MAX_SCANNED_EVENTS}) AS looked
  ORDER BY id DESC LIMIT 1`)
const SELECT_NEWEST = statement('SELECT max(id) AS id FROM event')
const PRUNE = statement(`
  DELETE FROM event WHERE time < :before AND id IN (
    SELECT id FROM event WHERE id < (SELECT max(id) FROM event) AND id < (
      SELECT coalesce(min(${FIRST_UNSENT}), ${Number.MAX_SAFE_INTEGER})
      FROM webhook WHERE disabled_reason IS NULL)
    ORDER BY id LIMIT ${PRUNED_AT_ONCE})
  RETURNING 1 AS pruned`)
const LEAVE_BEHIND = statement(`
  UPDATE webhook SET disabled_reason = 'behind', epoch = epoch + 1
  WHERE disabled_reason IS NULL
    AND (SELECT time FROM event WHERE id >= ${FIRST_UNSENT} ORDER BY id LIMIT 1) < :before
  RETURNING id`)

/** The log of events, which the outcomes of intents and erasures write. */
export function createEventLog(database: Database, blind: BlindTenant): EventLog {
  return {
    read: (wanted) => database.durableSnapshot(() => read(wanted, blind)),
    async leaveBehind(before) {
      return (await database.change(LEAVE_BEHIND, { before })).map(({ id }) => String(id))
    },
    async prune(before) {
      return (await database.change(PRUNE, { before })).length === PRUNED_AT_ONCE
    },
  }
}

function* read(wanted: EventQuery, blind: BlindTenant): Work<EventPage | 'unknown_event'> {
  const { after, types, tenant, limit } = wanted
  if (after) {
    const row = yield* first(SELECT_TIME, { id: after.number })
    if (row?.time !== after.time) return 'unknown_event'
  }
  const from = after?.number ?? 0
  const rows = yield* all(SELECT, {
    ...wantedValues(tenant ?? null, types ?? null, blind),
    after: from,
    limit,
  })
  const scanned = rows.length < limit ? yield* first(SELECT_SCANNED, { after: from }) : undefined
  const newest = yield* first(SELECT_NEWEST)
  return eventPageOf(rows, wanted, { scanned, newest: newest?.id as number | null })
}

/** @param scanned The last event that was scanned; not needed for a full page. */
function eventPageOf(
  rows: readonly Row[],
  { after, limit }: EventQuery,
  { scanned, newest }: { scanned: Row | undefined; newest: number | null },
): EventPage {
  const last = rows.length === limit ? rows.at(-1) : scanned
  return {
    events: rows.map(documentEventOf),
    next: last ? { time: Number(last.time), number: Number(last.id) } : after,
    hasMore: newest !== null && Number(last?.id ?? after?.number ?? 0) < newest,
  }
}

export function documentEventOf(row: Row): DocumentEvent {
  const time = Number(row.time)
  return {
    id: formatEventId({ time, number: Number(row.id) }),
    type: row.type as EventType,
    time,
    tenant: row.tenant as string | null,
    documentHash: hexOf(row.document_hash),
    blockNumber: row.block_number as number | null,
    blockHash: hexOrNull(row.block_hash),
    transactionHash: hexOrNull(row.transaction_hash),
    actor: row.actor === null ? null : parseActor(String(row.actor)),
  }
}
