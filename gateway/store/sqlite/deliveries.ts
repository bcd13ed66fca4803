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
import type { Database } from '../drivers/sqlite/database.ts'
import { turnOf } from '../rows.ts'
import type { BlindTenant } from '../stores.ts'
import { EVENT_COLUMNS, IS_OF_TENANT, ownersOf } from './events.ts'
import { webhookOf } from './webhooks.ts'

/** Whether a delivery is due at `:now`. */
const IS_DUE = `(next_at <= :now OR next_at > :now + ${MAX_DELAY_MS})`

/** The deliveries in the gateway's database. */
export function createSqliteDeliveries(database: Database, blind: BlindTenant): Deliveries {
  const { sqlite, write } = database
  const selectDue = sqlite.prepare(`
    SELECT id, tenant FROM webhook WHERE disabled_reason IS NULL AND (
      cursor < (SELECT coalesce(max(id), 0) FROM event)
      OR EXISTS (SELECT 1 FROM delivery WHERE webhook = webhook.id AND ${IS_DUE}))`)
  const selectBacklog = sqlite.prepare(`
    SELECT
      coalesce(sum(iif(disabled_reason IS NULL,
        (SELECT count(*) FROM delivery WHERE webhook = webhook.id)
        + max(0, (SELECT coalesce(max(id), 0) FROM event) - cursor), 0)), 0) AS events,
      coalesce(sum(disabled_reason IS NULL AND failing_since IS NOT NULL), 0) AS failing,
      coalesce(sum(disabled_reason <> 'request'), 0) AS disabled
    FROM webhook`)
  const turn = createTurn(database, blind)

  return {
    due: async (now) => selectDue.all({ now }) as DueWebhook[],
    // In a write, which resolves when everything before it is on the disk.
    turn: (id, now, limit) => write(() => turn(id, now, limit)),
    record: createRecord(database),
    async backlog() {
      const { events, failing, disabled } = selectBacklog.get() as Record<string, number>
      return { events: Number(events), failing: Number(failing), disabled: Number(disabled) }
    },
  }
}

function createTurn({ sqlite }: Database, blind: BlindTenant) {
  const select = sqlite.prepare('SELECT * FROM webhook WHERE id = ? AND disabled_reason IS NULL')
  const countWaiting = sqlite.prepare('SELECT count(*) AS count FROM delivery WHERE webhook = ?')
  // The first of each document.
  const selectRetries = sqlite.prepare(`
    SELECT ${EVENT_COLUMNS.replaceAll('document_hash', 'event.document_hash')}, attempts, failed_since
    FROM delivery AS first JOIN event ON event.id = first.event
    WHERE webhook = :id AND ${IS_DUE} AND NOT EXISTS (
      SELECT 1 FROM delivery WHERE webhook = :id AND document_hash = first.document_hash
      AND event < first.event)
    ORDER BY next_at, event LIMIT :limit`)
  const selectFresh = sqlite.prepare(`
    SELECT ${EVENT_COLUMNS}, 0 AS attempts, NULL AS failed_since,
      EXISTS (SELECT 1 FROM delivery WHERE webhook = :id AND document_hash = recent.document_hash)
        AS held
    FROM (SELECT * FROM event WHERE id > :after ORDER BY id LIMIT ${MAX_SCANNED}) AS recent
    WHERE ${IS_OF_TENANT}
      AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types)))
    ORDER BY id LIMIT :limit`)
  const selectScanned = sqlite.prepare(`
    SELECT max(id) AS id FROM (SELECT id FROM event WHERE id > ? ORDER BY id LIMIT ${MAX_SCANNED})`)

  return (id: WebhookId, now: number, limit: number): Turn | undefined => {
    const row = select.get(id)
    if (!row) return undefined
    const { tenant, types } = row
    const after = Number(row.cursor)
    const retries = selectRetries.all({ id, now, limit })
    const isFull = Number(countWaiting.get(id)?.count) >= MAX_WAITING
    const room = isFull ? 0 : limit - retries.length
    const owners = ownersOf(tenant as string | null, blind)
    const filter = { id, after, limit: room, owners, tenant: tenant ?? null, types: types ?? null }
    const fresh = room > 0 ? selectFresh.all(filter) : []
    const scanned = room > fresh.length ? selectScanned.get(after)?.id : undefined
    return turnOf(webhookOf(row), row, { retries, fresh, scanned })
  }
}

function createRecord({ sqlite, write }: Database): Deliveries['record'] {
  const advance = sqlite.prepare(`
    UPDATE webhook
    SET cursor = ?, failing_since = ?, disabled_reason = ?, epoch = epoch + 1
    WHERE id = ? AND epoch = ? AND disabled_reason IS NULL`)
  const remove = sqlite.prepare(`
    DELETE FROM delivery WHERE webhook = ?1 AND event = ?2
      AND document_hash = (SELECT document_hash FROM event WHERE id = ?2)`)
  // Not of an event that was deleted meanwhile.
  const keep = sqlite.prepare(`
    INSERT OR REPLACE INTO delivery (webhook, document_hash, event, attempts, failed_since, next_at)
    SELECT ?1, document_hash, id, ?3, ?4, ?5 FROM event WHERE id = ?2`)
  const bringForward = sqlite.prepare(`
    UPDATE delivery SET next_at = iif(failed_since >= :failingSince, 0, :latest)
    WHERE webhook = :id AND (next_at > :latest OR failed_since >= :failingSince)`)

  return ({ webhook: { id }, epoch, upTo }: Turn, result: TurnResult) =>
    write(() => {
      const { failingSince, disabledReason } = result
      const { changes } = advance.run(upTo, failingSince, disabledReason, id, epoch)
      if (changes === 0) return
      for (const { number } of [...result.delivered, ...result.givenUp]) remove.run(id, number)
      if (result.release) bringForward.run({ id, ...result.release })
      for (const { number, attempts, failedSince, nextAt } of result.waiting)
        keep.run(id, number, attempts, failedSince, nextAt)
    })
}
