import { fromHex } from '#document/hex.ts'
import type { Database } from '#store/database.ts'
import { documentEventOf, EVENT_COLUMNS, isWanted, wantedValues } from '#store/events.ts'
import { all, each, first, hexOf, type Row, statement, type Work } from '#store/sql.ts'
import {
  type Deliveries,
  type Delivery,
  type DueWebhook,
  MAX_SCANNED,
  MAX_WAITING,
  type Turn,
  type TurnResult,
} from './deliveries.ts'
import { MAX_DELAY_MS } from './retries.ts'
import { webhookOf } from './store.ts'
import type { Webhook, WebhookId } from './webhook.ts'

/** Whether a delivery is due. A time that is too far ahead comes from a clock that was wrong. */
const IS_DUE = '(next_at <= :now OR next_at > :latest)'

const SELECT_DUE = statement(`
  SELECT id, tenant FROM webhook WHERE disabled_reason IS NULL AND (
    cursor < (SELECT coalesce(max(id), 0) FROM event)
    OR EXISTS (SELECT 1 FROM delivery WHERE webhook = webhook.id AND ${IS_DUE}))`)
/** The deliveries of events. */
export function createDeliveries(database: Database): Deliveries {
  return {
    async due(now) {
      return (await database.read(SELECT_DUE, dueValues(now))) as DueWebhook[]
    },
    turn: (id, now, limit) => database.durableSnapshot(() => readTurn({ id, now, limit })),
    record: (turn, result) => database.write(() => record(turn, result)),
  }
}

const dueValues = (now: number) => ({ now, latest: now + MAX_DELAY_MS })

const SELECT_ENABLED = statement('SELECT * FROM webhook WHERE id = :id AND disabled_reason IS NULL')
// Selects the first delivery of each document.
const SELECT_RETRIES = statement(`
  SELECT ${EVENT_COLUMNS}, attempts, failed_since
  FROM delivery AS first JOIN event ON event.id = first.event
  WHERE webhook = :id AND ${IS_DUE} AND NOT EXISTS (
    SELECT 1 FROM delivery WHERE webhook = :id AND document_hash = first.document_hash
    AND event < first.event)
  ORDER BY next_at, event LIMIT :limit`)
const COUNT_WAITING = statement('SELECT count(*) AS count FROM delivery WHERE webhook = :id')
const SELECT_SCANNED = statement(`
  SELECT max(id) AS id FROM (
    SELECT id FROM event WHERE id > :after ORDER BY id LIMIT ${MAX_SCANNED}) AS looked`)
const SELECT_FRESH = statement(
  (sql) => `
    SELECT ${EVENT_COLUMNS}, 0 AS attempts, NULL AS failed_since, EXISTS (
      SELECT 1 FROM delivery
      WHERE webhook = :id AND delivery.document_hash = event.document_hash) AS held
    FROM (SELECT * FROM event WHERE id > :after ORDER BY id LIMIT ${MAX_SCANNED}) AS event
    WHERE ${isWanted(sql)} ORDER BY id LIMIT :room`,
)

function* readTurn(wanted: { id: WebhookId; now: number; limit: number }): Work<Turn | undefined> {
  const { id, now, limit } = wanted
  const row = yield* first(SELECT_ENABLED, { id })
  if (!row) return undefined
  const webhook = webhookOf(row)
  const after = Number(row.cursor)
  const retries = yield* all(SELECT_RETRIES, { id, limit, ...dueValues(now) })
  const waiting = yield* first(COUNT_WAITING, { id })
  const room = Number(waiting?.count) >= MAX_WAITING ? 0 : limit - retries.length
  const fresh = room > 0 ? yield* freshOf(webhook, { after, room }) : []
  const scanned = room > fresh.length ? (yield* first(SELECT_SCANNED, { after }))?.id : undefined
  return turnOf(webhook, row, { retries, fresh, scanned })
}

function* freshOf(
  { id, tenant, types }: Webhook,
  { after, room }: { after: number; room: number },
): Work<Row[]> {
  return yield* all(SELECT_FRESH, { ...wantedValues(tenant, types), id, after, room })
}

/** @param found `scanned` is the last event that was scanned, if all fresh ones fit. */
function turnOf(
  webhook: Webhook,
  row: Row,
  { retries, fresh, scanned }: { retries: Row[]; fresh: Row[]; scanned: unknown },
): Turn | undefined {
  const after = Number(row.cursor)
  const upTo = Number(scanned ?? fresh.at(-1)?.id ?? after)
  if (retries.length === 0 && upTo === after) return undefined
  return {
    webhook,
    epoch: Number(row.epoch),
    upTo,
    retries: retries.map(deliveryOf),
    fresh: fresh.map(deliveryOf),
    held: new Set(fresh.filter(({ held }) => held).map((one) => hexOf(one.document_hash))),
  }
}

/** @param row An event, with its delivery to one webhook. */
function deliveryOf(row: Row): Delivery {
  return {
    number: Number(row.id),
    event: documentEventOf(row),
    attempts: Number(row.attempts),
    failedSince: row.failed_since as number | null,
  }
}

const ADVANCE = statement(`
  UPDATE webhook SET cursor = :upTo, failing_since = :failingSince,
    disabled_reason = :disabledReason, epoch = epoch + 1
  WHERE id = :id AND epoch = :epoch AND disabled_reason IS NULL RETURNING id`)
const DELETE_DONE = statement(
  (sql) => `
    DELETE FROM delivery WHERE webhook = :id AND (event, document_hash) IN (
      SELECT item.number, item.hash FROM ${sql.items({ number: 'integer', hash: 'bytes' })})`,
)
const BRING_FORWARD = statement(
  (sql) => `
    UPDATE delivery SET next_at = CASE WHEN failed_since >= ${sql.value('failingSince', 'integer')}
      THEN 0 ELSE ${sql.value('latest', 'integer')} END
    WHERE webhook = :id AND (next_at > :latest OR failed_since >= :failingSince)`,
)
// Keeps no delivery of an event that was deleted meanwhile.
const KEEP = statement(
  (sql) => `
    INSERT INTO delivery (webhook, document_hash, event, attempts, failed_since, next_at)
    SELECT :id, event.document_hash, event.id, item.attempts, item.failed_since, item.next_at
    FROM ${sql.items({
      number: 'integer',
      attempts: 'integer',
      failed_since: 'integer',
      next_at: 'integer',
    })} JOIN event ON event.id = item.number WHERE true
    ON CONFLICT (webhook, document_hash, event) DO UPDATE SET attempts = excluded.attempts,
      failed_since = excluded.failed_since, next_at = excluded.next_at`,
)

function* record(turn: Turn, result: TurnResult): Work<void> {
  const { id } = turn.webhook
  const { failingSince, disabledReason, delivered, givenUp, waiting, release } = result
  const { upTo, epoch } = turn
  const advanced = yield* first(ADVANCE, { id, upTo, epoch, failingSince, disabledReason })
  if (!advanced) return
  yield* each(
    DELETE_DONE,
    [...delivered, ...givenUp].map(({ number, event }) => ({
      number,
      hash: fromHex(event.documentHash),
    })),
    { id },
  )
  if (release) yield* all(BRING_FORWARD, { id, ...release })
  yield* each(
    KEEP,
    waiting.map(({ number, attempts, failedSince, nextAt }) => ({
      number,
      attempts,
      failed_since: failedSince,
      next_at: nextAt,
    })),
    { id },
  )
}
