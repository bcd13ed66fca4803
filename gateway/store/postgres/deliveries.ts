import { fromHex } from '#document/hex.ts'
import {
  type Deliveries,
  type DueWebhook,
  MAX_SCANNED,
  MAX_WAITING,
  type Turn,
  type TurnResult,
} from '#events/deliveries.ts'
import { MAX_DELAY_MS } from '#events/retries.ts'
import type { WebhookId } from '#events/webhook.ts'
import type { Postgres } from '../drivers/postgres/database.ts'
import { inSnapshot } from '../drivers/postgres/database.ts'
import type { Query, Row } from '../drivers/postgres/query.ts'
import { turnOf } from '../rows.ts'
import type { BlindTenant } from '../stores.ts'
import { EVENT_COLUMNS, IS_WANTED, wantedValues } from './events.ts'
import { webhookOf } from './webhooks.ts'

/** The deliveries in PostgreSQL. */
export function createPostgresDeliveries(database: Postgres, blind: BlindTenant): Deliveries {
  const { query, transaction, brief } = database
  return {
    async due(now) {
      const rows = await query(
        `SELECT id, tenant FROM webhook WHERE disabled_reason IS NULL AND (
           cursor < (SELECT coalesce(max(id), 0) FROM event)
           OR EXISTS (SELECT 1 FROM delivery WHERE webhook = webhook.id
             AND (next_at <= $1 OR next_at > $2)))`,
        [now, now + MAX_DELAY_MS],
      )
      return rows as DueWebhook[]
    },
    turn: (id, now, limit) =>
      inSnapshot(database, (within) => readTurn(within, { id, now, limit, blind })),
    record: (turn, result) => transaction((within) => record(within, turn, result)),
    async backlog() {
      const [row] = await brief(() =>
        query(`
        SELECT
          coalesce(sum(CASE WHEN disabled_reason IS NULL THEN
            (SELECT count(*) FROM delivery WHERE webhook = webhook.id)
            + greatest(0, (SELECT coalesce(max(id), 0) FROM event) - cursor) END), 0) AS events,
          count(*) FILTER (WHERE disabled_reason IS NULL AND failing_since IS NOT NULL) AS failing,
          count(*) FILTER (WHERE disabled_reason <> 'request') AS disabled
        FROM webhook`),
      )
      return {
        events: Number(row?.events),
        failing: Number(row?.failing),
        disabled: Number(row?.disabled),
      }
    },
  }
}

async function readTurn(
  query: Query,
  { id, now, limit, blind }: { id: WebhookId; now: number; limit: number; blind: BlindTenant },
): Promise<Turn | undefined> {
  const [row] = await query('SELECT * FROM webhook WHERE id = $1 AND disabled_reason IS NULL', [id])
  if (!row) return undefined
  const webhook = webhookOf(row)
  const after = Number(row.cursor)
  // The first of each document.
  const retries = await query(
    `SELECT ${EVENT_COLUMNS}, attempts, failed_since
     FROM delivery AS first JOIN event ON event.id = first.event
     WHERE webhook = $1 AND (next_at <= $2 OR next_at > $4) AND NOT EXISTS (
       SELECT 1 FROM delivery WHERE webhook = $1 AND document_hash = first.document_hash
       AND event < first.event)
     ORDER BY next_at, event LIMIT $3`,
    [id, now, limit, now + MAX_DELAY_MS],
  )
  const [waiting] = await query('SELECT count(*) AS count FROM delivery WHERE webhook = $1', [id])
  const room = Number(waiting?.count) >= MAX_WAITING ? 0 : limit - retries.length
  const fresh = room > 0 ? await freshOf(query, { webhook, after, room, blind }) : []
  const [scanned] = await query(
    `SELECT max(id) AS id FROM (
       SELECT id FROM event WHERE id > $1 ORDER BY id LIMIT ${MAX_SCANNED}) AS looked`,
    [after],
  )
  const reached = room > fresh.length ? scanned?.id : undefined
  return turnOf(webhook, row, { retries, fresh, scanned: reached })
}

async function freshOf(
  query: Query,
  {
    webhook,
    after,
    room,
    blind,
  }: { webhook: Turn['webhook']; after: number; room: number; blind: BlindTenant },
): Promise<Row[]> {
  const { id, tenant, types } = webhook
  return query(
    `SELECT ${EVENT_COLUMNS}, 0 AS attempts, NULL AS failed_since, EXISTS (
       SELECT 1 FROM delivery
       WHERE webhook = $4 AND delivery.document_hash = event.document_hash) AS held
     FROM (SELECT * FROM event WHERE id > $5 ORDER BY id LIMIT ${MAX_SCANNED}) AS event
     WHERE ${IS_WANTED} ORDER BY id LIMIT $6`,
    [...wantedValues(tenant, types, blind), id, after, room],
  )
}

async function record(query: Query, turn: Turn, result: TurnResult): Promise<void> {
  const { id } = turn.webhook
  const advanced = await query(
    `UPDATE webhook SET cursor = $1, failing_since = $2, disabled_reason = $3,
       epoch = epoch + 1
     WHERE id = $4 AND epoch = $5 AND disabled_reason IS NULL RETURNING 1`,
    [turn.upTo, result.failingSince, result.disabledReason, id, turn.epoch],
  )
  if (advanced.length === 0) return
  const done = [...result.delivered, ...result.givenUp]
  await query(
    `DELETE FROM delivery USING unnest($2::bigint[], $3::bytea[]) AS item (number, hash)
     WHERE webhook = $1 AND event = item.number AND document_hash = item.hash`,
    [id, done.map(({ number }) => number), done.map(({ event }) => fromHex(event.documentHash))],
  )
  const { waiting, release } = result
  if (release)
    await query(
      `UPDATE delivery SET next_at = CASE WHEN failed_since >= $2::bigint THEN 0 ELSE $3::bigint END
       WHERE webhook = $1 AND (next_at > $3::bigint OR failed_since >= $2::bigint)`,
      [id, release.failingSince, release.latest],
    )
  // Not of an event that was deleted meanwhile.
  await query(
    `INSERT INTO delivery (webhook, document_hash, event, attempts, failed_since, next_at)
     SELECT $1, event.document_hash, event.id, item.attempts, item.failed_since, item.next_at
     FROM unnest($2::bigint[], $3::integer[], $4::bigint[], $5::bigint[])
       AS item (number, attempts, failed_since, next_at)
     JOIN event ON event.id = item.number
     ON CONFLICT (webhook, document_hash, event) DO UPDATE SET attempts = excluded.attempts,
       failed_since = excluded.failed_since, next_at = excluded.next_at`,
    [
      id,
      waiting.map(({ number }) => number),
      waiting.map(({ attempts }) => attempts),
      waiting.map(({ failedSince }) => failedSince),
      waiting.map(({ nextAt }) => nextAt),
    ],
  )
}
