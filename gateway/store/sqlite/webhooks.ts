import { clock } from '#base/clock.ts'
import type { ReplayFrom, Webhook, WebhookId, Webhooks } from '#events/webhook.ts'
import type { Database } from '../drivers/sqlite/database.ts'
import { MAX_WEBHOOKS, numberBefore } from '../rules.ts'

/** The webhooks in the gateway's database. */
export function createSqliteWebhooks(database: Database): Webhooks {
  const { sqlite, write } = database
  const select = sqlite.prepare('SELECT * FROM webhook WHERE id = ?')
  const selectAll = sqlite.prepare(
    'SELECT * FROM webhook WHERE ?1 IS NULL OR tenant = ?1 ORDER BY created_at, id',
  )
  const remove = sqlite.prepare('DELETE FROM webhook WHERE id = ?')
  const update = sqlite.prepare(`
    UPDATE webhook SET url = :url, types = :types, secrets = :secrets,
      disabled_reason = :disabled_reason, failing_since = :failing_since, epoch = epoch + 1
    WHERE id = :id`)
  // Its three days begin again.
  const restart = sqlite.prepare(`
    UPDATE delivery SET next_at = 0, failed_since = iif(attempts = 0, NULL, ?2) WHERE webhook = ?1`)
  const find = (id: WebhookId) => {
    const row = select.get(id)
    return row && webhookOf(row)
  }

  return {
    add: createAdd(database),
    list: async (tenant) => selectAll.all(tenant ?? null).map(webhookOf),
    change: (id, changeOf) =>
      write(() => {
        const before = find(id)
        if (!before) return undefined
        const after = { ...before, ...changeOf(before) }
        update.run({
          id,
          url: after.url,
          types: jsonOf(after.types),
          secrets: JSON.stringify(after.secrets),
          disabled_reason: after.disabledReason,
          failing_since: after.failingSince,
        })
        if (before.disabledReason !== null && after.disabledReason === null)
          restart.run(id, clock.now())
        return after
      }),
    remove: (id) =>
      write(() => {
        remove.run(id)
      }),
    replay: createReplay(database),
  }
}

function createAdd({ sqlite, write }: Database): Webhooks['add'] {
  const insert = sqlite.prepare(`
    INSERT INTO webhook (id, tenant, created_by, created_at, url, types, secrets, cursor)
    SELECT :id, :tenant, :created_by, :created_at, :url, :types, :secrets,
      (SELECT coalesce(max(id), 0) FROM event)
    WHERE (SELECT count(*) FROM webhook WHERE tenant IS :tenant) < ${MAX_WEBHOOKS}`)

  return ({ id, tenant, createdBy, createdAt, url, types, secrets }) =>
    write(() => {
      const { changes } = insert.run({
        id,
        tenant,
        url,
        types: jsonOf(types),
        secrets: JSON.stringify(secrets),
        created_by: createdBy,
        created_at: createdAt,
      })
      return changes > 0
    })
}

function createReplay({ sqlite, write }: Database): Webhooks['replay'] {
  const selectTime = sqlite.prepare('SELECT time FROM event WHERE id = ?')
  const setBack = sqlite.prepare(`
    UPDATE webhook SET cursor = min(cursor, ?2), epoch = epoch + 1 WHERE id = ?1`)
  const forget = sqlite.prepare('DELETE FROM delivery WHERE webhook = ? AND event > ?')
  const selectId = sqlite.prepare('SELECT min(id) AS oldest, max(id) AS newest FROM event')

  function since(time: number): number {
    const { oldest, newest } = selectId.get() as { oldest: number | null; newest: number | null }
    const search = numberBefore(time, oldest, newest)
    let step = search.next()
    while (!step.done) {
      const at = selectTime.get(step.value)?.time as number | undefined
      step = search.next({ number: step.value, time: at ?? Number.NEGATIVE_INFINITY })
    }
    return step.value
  }

  function placeOf(from: ReplayFrom): number | undefined {
    if ('since' in from) return since(from.since)
    const { time, number } = from.after
    return selectTime.get(number)?.time === time ? number : undefined
  }

  return (id, from) =>
    write(() => {
      const place = placeOf(from)
      if (place === undefined) return 'unknown_event'
      setBack.run(id, place)
      forget.run(id, place)
      return 'replayed'
    })
}

/** @returns A webhook from its row. */
export function webhookOf(row: Record<string, unknown>): Webhook {
  return {
    id: row.id as WebhookId,
    tenant: row.tenant as string | null,
    createdBy: String(row.created_by),
    createdAt: Number(row.created_at),
    url: String(row.url),
    types: row.types === null ? null : JSON.parse(String(row.types)),
    disabledReason: row.disabled_reason as Webhook['disabledReason'],
    failingSince: row.failing_since as number | null,
    secrets: JSON.parse(String(row.secrets)),
  }
}

function jsonOf(types: Webhook['types']): string | null {
  return types && JSON.stringify(types)
}
