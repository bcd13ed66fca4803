import { clock } from '#base/clock.ts'
import type { ReplayFrom, Webhook, WebhookId, Webhooks } from '#events/webhook.ts'
import type { Postgres } from '../drivers/postgres/database.ts'
import type { Query, Row } from '../drivers/postgres/query.ts'
import { MAX_WEBHOOKS, numberBefore } from '../rules.ts'

/** Identifies this service's lock; any number would do. */
const ADDING_LOCK = 7_160_019

/** The webhooks in PostgreSQL. */
export function createPostgresWebhooks({ query, transaction }: Postgres): Webhooks {
  return {
    add: (webhook) => transaction((within) => add(within, webhook)),
    async list(tenant) {
      const rows = await query(
        'SELECT * FROM webhook WHERE $1::text IS NULL OR tenant = $1 ORDER BY created_at, id',
        [tenant],
      )
      return rows.map(webhookOf)
    },
    change: (id, changeOf) =>
      transaction(async (within) => {
        const [row] = await within('SELECT * FROM webhook WHERE id = $1 FOR UPDATE', [id])
        if (!row) return undefined
        const before = webhookOf(row)
        const after = { ...before, ...changeOf(before) }
        await update(within, before, after)
        return after
      }),
    async remove(id) {
      await query('DELETE FROM webhook WHERE id = $1', [id])
    },
    replay: (id, from) => transaction((within) => replay(within, id, from)),
  }
}

async function add(query: Query, webhook: Webhook): Promise<boolean> {
  const { id, tenant, createdBy, createdAt, url, types, secrets } = webhook
  await query('SELECT pg_advisory_xact_lock($1)', [ADDING_LOCK])
  const added = await query(
    `INSERT INTO webhook (id, tenant, created_by, created_at, url, types, secrets, cursor)
     SELECT $1, $2, $3, $4, $5, $6, $7, (SELECT coalesce(max(id), 0) FROM event)
     WHERE (SELECT count(*) FROM webhook WHERE tenant IS NOT DISTINCT FROM $2) < ${MAX_WEBHOOKS}
     RETURNING 1`,
    [id, tenant, createdBy, createdAt, url, types && [...types], JSON.stringify(secrets)],
  )
  return added.length > 0
}

async function update(query: Query, before: Webhook, after: Webhook): Promise<void> {
  const { id, url, types, secrets, disabledReason, failingSince } = after
  await query(
    `UPDATE webhook SET url = $2, types = $3, secrets = $4, disabled_reason = $5,
       failing_since = $6, epoch = epoch + 1
     WHERE id = $1`,
    [id, url, types && [...types], JSON.stringify(secrets), disabledReason, failingSince],
  )
  // Its three days begin again.
  if (before.disabledReason !== null && disabledReason === null)
    await query(
      `UPDATE delivery SET next_at = 0,
         failed_since = CASE WHEN attempts = 0 THEN NULL ELSE $2::bigint END
       WHERE webhook = $1`,
      [id, clock.now()],
    )
}

async function replay(
  query: Query,
  id: WebhookId,
  from: ReplayFrom,
): Promise<'replayed' | 'unknown_event'> {
  const place = await placeOf(query, from)
  if (place === undefined) return 'unknown_event'
  await query('UPDATE webhook SET cursor = least(cursor, $2), epoch = epoch + 1 WHERE id = $1', [
    id,
    place,
  ])
  await query('DELETE FROM delivery WHERE webhook = $1 AND event > $2', [id, place])
  return 'replayed'
}

async function placeOf(query: Query, from: ReplayFrom): Promise<number | undefined> {
  if ('since' in from) return findNumber(query, from.since)
  const { time, number } = from.after
  const [row] = await query('SELECT time FROM event WHERE id = $1', [number])
  return row?.time === time ? number : undefined
}

async function findNumber(query: Query, time: number): Promise<number> {
  const [bounds] = await query('SELECT min(id) AS oldest, max(id) AS newest FROM event')
  const search = numberBefore(
    time,
    bounds?.oldest as number | null,
    bounds?.newest as number | null,
  )
  let step = search.next()
  while (!step.done) {
    // Numbers of transactions that failed are missing.
    const [at] = await query('SELECT id, time FROM event WHERE id >= $1 ORDER BY id LIMIT 1', [
      step.value,
    ])
    step = search.next(at && { number: Number(at.id), time: Number(at.time) })
  }
  return step.value
}

/** @returns A webhook from its row. */
export function webhookOf(row: Row): Webhook {
  return {
    id: row.id as WebhookId,
    tenant: row.tenant as string | null,
    createdBy: String(row.created_by),
    createdAt: Number(row.created_at),
    url: String(row.url),
    types: row.types as Webhook['types'],
    disabledReason: row.disabled_reason as Webhook['disabledReason'],
    failingSince: row.failing_since as number | null,
    secrets: row.secrets as Webhook['secrets'],
  }
}
