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
import { SUPERSEDED } from '#verifier/reasons.ts'
import type { Database } from './database.ts'
import {
  all,
  type Dialect,
  first,
  hexOf,
  hexOrNull,
  type Row,
  type Statement,
  statement,
  type Values,
  type Work,
} from './sql.ts'

/** The maximum number of events that one page scans, whether or not they match. */
const MAX_SCANNED_EVENTS = 5_000
/** The number of events that one write deletes, which takes some milliseconds. */
const PRUNED_AT_ONCE = 500

/** The act behind each type of event. */
const ACT_OF = Object.entries(EVENTS)
  .filter(([, act]) => act !== null)
  .map(([type, act]) => `WHEN '${type}' THEN '${act}'`)
  .join(' ')

/** @returns A column of the newest change before an event that caused it. */
const ofChange = (column: 'actor' | 'tenant') => `(
  SELECT change.${column} FROM change
  WHERE change.hash = event.document_hash AND change.time * 1000 <= event.time
    AND change.actor IS NOT NULL AND CASE event.type ${ACT_OF} END =
      CASE WHEN change.kind = 'revoke' AND change.reason = ${SUPERSEDED} THEN 'supersede'
        ELSE change.kind END
  ORDER BY change.id DESC LIMIT 1)`

/** Who caused an event. That of issuing is in its record. */
const ACTOR = `CASE event.type WHEN 'document.issued' THEN (
    SELECT record.actor FROM record
    WHERE record.hash = event.document_hash AND record.batch IS NULL LIMIT 1)
  WHEN 'batch.issued' THEN (
    SELECT batch.actor FROM batch WHERE batch.root = event.document_hash)
  ELSE ${ofChange('actor')} END`
/** The tenant of the actor. */
const TENANT = `CASE WHEN event.type IN ('document.issued', 'batch.issued') THEN event.tenant
  ELSE coalesce(${ofChange('tenant')}, event.tenant) END`

export const EVENT_COLUMNS = [
  'id',
  'type',
  'time',
  'document_hash',
  'block_number',
  'block_hash',
  'transaction_hash',
]
  .map((name) => `event.${name}`)
  .concat(`${TENANT} AS tenant`, `${ACTOR} AS actor`)
  .join(', ')

/** A condition that an index serves, so that a tenant with few events is not slow beside others. */
const ofOne = (tenant: string | null) => (tenant === null ? '' : 'AND tenant = :tenant')

/** @returns The events after `:after` that a page looks at: those of `:tenant`, or all. */
const lookedAt = (tenant: string | null) => `(
  SELECT * FROM event WHERE id > :after ${ofOne(tenant)}
  ORDER BY id LIMIT ${MAX_SCANNED_EVENTS}) AS event`

const isOfType = (sql: Dialect) => `(:anyType OR ${sql.isIn('event.type', 'types', 'text')})`

/** Whether an event is for `:tenant`, and one of `:types`. */
export const isWanted = (sql: Dialect) => `
  (${sql.value('tenant', 'text')} IS NULL OR event.tenant = :tenant) AND ${isOfType(sql)}`

/** @returns The values for {@link isWanted}. */
export function wantedValues(tenant: string | null, types: readonly EventType[] | null): Values {
  return { tenant, anyType: types === null, types: [...(types ?? [])] }
}

/** @param write Makes a statement for a tenant, or for all. @returns It for either. */
function ofTenant(write: (tenant: string | null) => Statement): {
  of(tenant: string | null): Statement
} {
  const [all, one] = [write(null), write('')]
  return { of: (tenant) => (tenant === null ? all : one) }
}

/** The number of the first event that may still have to be sent to a webhook. */
const FIRST_UNSENT = `coalesce(
  (SELECT min(event) FROM delivery WHERE webhook = webhook.id), cursor + 1)`

const SELECT_EVENT = statement('SELECT id, time FROM event WHERE id = :id')
const SELECT = ofTenant((tenant) =>
  statement(
    (sql) => `
      SELECT ${EVENT_COLUMNS} FROM ${lookedAt(tenant)}
      WHERE ${isOfType(sql)} ORDER BY id LIMIT :limit`,
  ),
)
const COUNT_SCANNED = ofTenant((tenant) =>
  statement(`SELECT count(*) AS count, max(id) AS id FROM ${lookedAt(tenant)}`),
)
const HAS_MORE = ofTenant((tenant) =>
  statement(`SELECT 1 FROM event WHERE id > :last ${ofOne(tenant)} LIMIT 1`),
)
const SELECT_NEWEST = statement('SELECT id, time FROM event ORDER BY id DESC LIMIT 1')
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

/** The log of events, which the outcomes of actions and erasures write. */
export function createEventLog(database: Database): EventLog {
  return {
    read: (wanted) => database.durableSnapshot(() => read(wanted)),
    async leaveBehind(before) {
      return (await database.change(LEAVE_BEHIND, { before })).map(({ id }) => String(id))
    },
    async prune(before) {
      return (await database.change(PRUNE, { before })).length === PRUNED_AT_ONCE
    },
  }
}

function* read(wanted: EventQuery): Work<EventPage | 'unknown_event'> {
  const { after, types, tenant = null, limit } = wanted
  if (after) {
    const row = yield* first(SELECT_EVENT, { id: after.number })
    if (row?.time !== after.time) return 'unknown_event'
  }
  const values = { ...wantedValues(tenant, types ?? null), after: after?.number ?? 0, limit }
  const rows = yield* all(SELECT.of(tenant), values)
  const { last, hasMore } = yield* endOf(rows, tenant, values)
  return {
    events: rows.map(documentEventOf),
    next: last ? { time: Number(last.time), number: Number(last.id) } : after,
    hasMore,
  }
}

/**
 * @returns The event after which the next page begins. Where a tenant has no more events, it is the
 * newest of all, because an old one may be pruned.
 */
function* endOf(
  rows: readonly Row[],
  tenant: string | null,
  values: Values,
): Work<{ last: Row | undefined; hasMore: boolean }> {
  const full = rows.length === values.limit ? rows.at(-1) : undefined
  if (full) {
    const more = yield* first(HAS_MORE.of(tenant), { tenant, last: full.id })
    return { last: full, hasMore: more !== undefined }
  }
  const scanned = yield* first(COUNT_SCANNED.of(tenant), values)
  if (Number(scanned?.count) < MAX_SCANNED_EVENTS)
    return { last: yield* first(SELECT_NEWEST), hasMore: false }
  const last: Row | undefined = yield* first(SELECT_EVENT, { id: scanned?.id })
  return { last, hasMore: true }
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
