import { clock } from '#base/clock.ts'
import type { WebhookBacklog } from '#base/metrics.ts'
import type { Database } from '#store/database.ts'
import {
  all,
  first,
  numberOrNull,
  onPostgres,
  type Row,
  statement,
  textOrNull,
  type Work,
} from '#store/sql.ts'
import type { ReplayFrom, Webhook, WebhookId, Webhooks } from './webhook.ts'

/** The maximum number of webhooks of a tenant, and of webhooks for the events of all tenants. */
const MAX_WEBHOOKS = 20

// Webhooks are added one at a time, so that they can be counted. Any other number would do.
const LOCK_ADDING = onPostgres('SELECT pg_advisory_xact_lock(7160019)')
const INSERT = statement(
  (sql) => `
    INSERT INTO webhook (id, tenant, created_by, created_at, url, types, secrets, cursor)
    SELECT :id, ${sql.value('tenant', 'text')}, :created_by, :created_at, :url, :types, :secrets,
      (SELECT coalesce(max(id), 0) FROM event)
    WHERE (SELECT count(*) FROM webhook WHERE tenant IS NOT DISTINCT FROM :tenant) < ${MAX_WEBHOOKS}
    RETURNING id`,
)
const SELECT_ALL = statement(
  (sql) => `
    SELECT * FROM webhook WHERE ${sql.value('tenant', 'text')} IS NULL OR tenant = :tenant
    ORDER BY created_at, id`,
)
const SELECT = statement(
  (sql) => `SELECT * FROM webhook WHERE id = :id ${sql.forUpdate('webhook')}`,
)
const UPDATE = statement(`
  UPDATE webhook SET url = :url, types = :types, secrets = :secrets,
    disabled_reason = :disabled_reason, failing_since = :failing_since, epoch = epoch + 1
  WHERE id = :id`)
// The three days of failing begin again.
const RESTART = statement(
  (sql) => `
    UPDATE delivery SET next_at = 0,
      failed_since = CASE WHEN attempts = 0 THEN NULL ELSE ${sql.value('now', 'integer')} END
    WHERE webhook = :id`,
)
const DELETE = statement('DELETE FROM webhook WHERE id = :id')

const SELECT_BACKLOG = statement(
  (sql) => `
    SELECT
      coalesce(sum(CASE WHEN disabled_reason IS NULL THEN
        (SELECT count(*) FROM delivery WHERE webhook = webhook.id)
        + ${sql.larger('0', '(SELECT coalesce(max(id), 0) FROM event) - cursor')}
        END), 0) AS events,
      count(*) FILTER (WHERE disabled_reason IS NULL AND failing_since IS NOT NULL) AS failing,
      count(*) FILTER (WHERE disabled_reason <> 'request') AS disabled
    FROM webhook`,
)

/** @returns A reader of the numbers for monitoring. */
export const createBacklogReader =
  (database: Database): (() => Promise<WebhookBacklog>) =>
  async () => {
    const [row] = await database.brief(() => database.read(SELECT_BACKLOG))
    return {
      events: Number(row?.events),
      failing: Number(row?.failing),
      disabled: Number(row?.disabled),
    }
  }

export function createWebhooks(database: Database): Webhooks {
  return {
    add: (webhook) => database.write(() => add(webhook)),
    async list(tenant) {
      return (await database.read(SELECT_ALL, { tenant })).map(webhookOf)
    },
    change: (id, changeOf) =>
      database.write(function* () {
        const row = yield* first(SELECT, { id })
        if (!row) return undefined
        const before = webhookOf(row)
        const after = { ...before, ...changeOf(before) }
        yield* update(before, after)
        return after
      }),
    async remove(id) {
      await database.change(DELETE, { id })
    },
    replay: (id, from) => database.write(() => replay(id, from)),
  }
}

function* add(webhook: Webhook): Work<boolean> {
  yield* all(LOCK_ADDING)
  const added = yield* first(INSERT, {
    ...valuesOf(webhook),
    tenant: webhook.tenant,
    created_by: webhook.createdBy,
    created_at: webhook.createdAt,
  })
  return added !== undefined
}

function* update(before: Webhook, after: Webhook): Work<void> {
  const { id, disabledReason, failingSince } = after
  yield* all(UPDATE, {
    ...valuesOf(after),
    disabled_reason: disabledReason,
    failing_since: failingSince,
  })
  if (before.disabledReason !== null && disabledReason === null)
    yield* all(RESTART, { id, now: clock.now() })
}

const valuesOf = ({ id, url, types, secrets }: Webhook) => ({
  id,
  url,
  types: types && JSON.stringify(types),
  secrets: JSON.stringify(secrets),
})

const SET_BACK = statement(
  (sql) => `
    UPDATE webhook SET cursor = ${sql.smaller('cursor', ':place')}, epoch = epoch + 1
    WHERE id = :id`,
)
const FORGET = statement('DELETE FROM delivery WHERE webhook = :id AND event > :place')
const SELECT_TIME = statement('SELECT time FROM event WHERE id = :id')
const SELECT_BOUNDS = statement('SELECT min(id) AS oldest, max(id) AS newest FROM event')
// The numbers of failed transactions are missing.
const SELECT_NEXT = statement('SELECT id, time FROM event WHERE id >= :id ORDER BY id LIMIT 1')

function* replay(id: WebhookId, from: ReplayFrom): Work<'replayed' | 'unknown_event'> {
  const place = yield* placeOf(from)
  if (place === undefined) return 'unknown_event'
  yield* all(SET_BACK, { id, place })
  yield* all(FORGET, { id, place })
  return 'replayed'
}

function* placeOf(from: ReplayFrom): Work<number | undefined> {
  if ('since' in from) return yield* findNumber(from.since)
  const { time, number } = from.after
  const row = yield* first(SELECT_TIME, { id: number })
  return row?.time === time ? number : undefined
}

function* findNumber(time: number): Work<number> {
  const bounds = yield* first(SELECT_BOUNDS)
  const search = numberBefore(time, numberOrNull(bounds?.oldest), numberOrNull(bounds?.newest))
  let step = search.next()
  while (!step.done) {
    const at = yield* first(SELECT_NEXT, { id: step.value })
    step = search.next(at && { number: Number(at.id), time: Number(at.time) })
  }
  return step.value
}

/**
 * Finds the number from which on events are not older than a time, because numbers rise with time.
 * Yields a number, and receives the first event from that number on.
 */
function* numberBefore(
  time: number,
  oldest: number | null,
  newest: number | null,
): Generator<number, number, { number: number; time: number } | undefined> {
  let [low, high] = [oldest ?? 1, (newest ?? 0) + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const event = yield middle
    if (event && event.time < time) low = event.number + 1
    else high = middle
  }
  return low - 1
}

/** @returns A webhook from its row. */
export function webhookOf(row: Row): Webhook {
  return {
    id: row.id as WebhookId,
    tenant: textOrNull(row.tenant),
    createdBy: String(row.created_by),
    createdAt: Number(row.created_at),
    url: String(row.url),
    types: row.types === null ? null : JSON.parse(String(row.types)),
    disabledReason: row.disabled_reason as Webhook['disabledReason'],
    failingSince: numberOrNull(row.failing_since),
    secrets: JSON.parse(String(row.secrets)),
  }
}
