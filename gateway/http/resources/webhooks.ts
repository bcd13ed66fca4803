import { randomBytes } from 'node:crypto'
import type { Hono } from 'hono'
import type * as v from 'valibot'
import { clock } from '#base/clock.ts'
import type { JsonValue } from '#document/json.ts'
import { parseEventId } from '#events/events.ts'
import { rotate, type WebhookSecrets } from '#events/secrets.ts'
import type { ReplayFrom, Webhook, WebhookId, Webhooks } from '#events/webhook.ts'
import { type FindKey, type Grant, tenantOf } from '#keys/grant.ts'
import type { Env } from '../core/env.ts'
import { succeed } from '../core/envelope.ts'
import { ApiError } from '../core/errors.ts'
import { serve } from '../core/operation.ts'
import { parseBody, readJson, readOptionalJson } from '../core/request.ts'
import * as operations from './webhook-operations.ts'

export type WebhookDeps = {
  findKey: FindKey
  webhooks: Webhooks
  webhookSecrets: WebhookSecrets
  /** Rejects for a host that events may not be sent to. */
  checkWebhookHost: (hostname: string) => Promise<unknown>
  /** Whether `http` is accepted too. */
  mayWebhookUseHttp: boolean
}

/** Receivers of events. A key sees the webhooks of its tenant, an admin all. */
export function webhookRoutes(app: Hono<Env>, deps: WebhookDeps): void {
  const { findKey, webhooks, webhookSecrets } = deps
  const reveal = (webhook: Webhook, [newest] = webhook.secrets) => ({
    ...presentWebhook(webhook),
    ...(newest && { secret: webhookSecrets.reveal(newest) }),
  })

  serve(app, operations.CREATE, findKey, async (c) => {
    const webhook = await readWebhook(deps, await readJson(c), c.get('grant'))
    if (!(await webhooks.add(webhook)))
      throw new ApiError('too_many_webhooks', 'the tenant has the maximum number of webhooks')
    return succeed(c, reveal(webhook), 201)
  })

  serve(app, operations.LIST, findKey, async (c) => {
    const list = await webhooks.list(tenantOf(c.get('grant')) ?? undefined)
    return succeed(c, { webhooks: list.map(presentWebhook) })
  })

  serve(app, operations.RETRIEVE, findKey, async (c) =>
    succeed(c, presentWebhook(await find(deps, c.req.param('id'), c.get('grant')))),
  )

  serve(app, operations.CHANGE, findKey, async (c) => {
    const { id } = await find(deps, c.req.param('id'), c.get('grant'))
    const { enabled, ...changed } = parseBody(operations.change, await readOptionalJson(c))
    if (changed.url !== undefined) await checkUrl(deps, changed.url)
    const state = enabled
      ? { disabledReason: null, failingSince: null }
      : enabled === false && { disabledReason: 'request' as const }
    const webhook = await webhooks.change(id, () => ({ ...changed, ...state }))
    return succeed(c, presentWebhook(webhook ?? notFound()))
  })

  serve(app, operations.REMOVE, findKey, async (c) => {
    const { id } = await find(deps, c.req.param('id'), c.get('grant'))
    await webhooks.remove(id)
    return succeed(c, { id, deleted: true })
  })

  serve(app, operations.ROTATE, findKey, async (c) => {
    const { id } = await find(deps, c.req.param('id'), c.get('grant'))
    const { overlapSeconds } = parseBody(operations.rotation, await readOptionalJson(c))
    const next = webhookSecrets.create()
    const webhook = await webhooks.change(id, ({ secrets }) => ({
      secrets: rotate(secrets, next, clock.now(), overlapSeconds * 1000),
    }))
    return succeed(c, {
      ...presentWebhook(webhook ?? notFound()),
      secret: webhookSecrets.reveal(next),
    })
  })

  serve(app, operations.REPLAY, findKey, async (c) => {
    const webhook = await find(deps, c.req.param('id'), c.get('grant'))
    const from = placeOf(parseBody(operations.replay, await readJson(c)))
    if ((await webhooks.replay(webhook.id, from)) === 'unknown_event')
      throw new ApiError('unknown_event', 'the event is not kept (any more): give a time instead')
    return succeed(c, presentWebhook(webhook), 202)
  })
}

/** @throws {ApiError} `not_found`, also for a webhook that the key may not see. */
async function find({ webhooks }: WebhookDeps, id: string, grant: Grant): Promise<Webhook> {
  const list = await webhooks.list(tenantOf(grant) ?? undefined)
  return list.find((webhook) => webhook.id === id) ?? notFound()
}

function notFound(): never {
  throw new ApiError('not_found', 'no such webhook')
}

/** @throws {ApiError} `bad_fields`, `forbidden`. */
async function readWebhook(deps: WebhookDeps, body: JsonValue, grant: Grant): Promise<Webhook> {
  const { url, types, allTenants } = parseBody(operations.creation, body)
  if (allTenants && tenantOf(grant) !== null)
    throw new ApiError('forbidden', 'allTenants needs a key with the scope admin')
  await checkUrl(deps, url)
  const id: WebhookId = `wh_${randomBytes(12).toString('hex')}`
  const [createdBy, tenant] = [grant.id, allTenants ? null : grant.tenant]
  const secrets = [deps.webhookSecrets.create()]
  const state = { disabledReason: null, failingSince: null }
  return { id, tenant, createdBy, createdAt: Date.now(), url, types, secrets, ...state }
}

/** @throws {ApiError} `bad_fields` for an address that events may not be sent to. */
async function checkUrl(
  { checkWebhookHost, mayWebhookUseHttp }: WebhookDeps,
  url: string,
): Promise<void> {
  const refuse = (message: string, cause?: unknown): never => {
    throw new ApiError('bad_fields', 'invalid fields', {
      details: [{ field: 'url', message }],
      cause,
    })
  }
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'https:' && !(mayWebhookUseHttp && protocol === 'http:'))
    refuse('must be an https URL')
  await checkWebhookHost(hostname).catch((cause) =>
    refuse('must lead to a public address, which its name resolves to now', cause),
  )
}

function placeOf({ after, since }: v.InferOutput<typeof operations.replay>): ReplayFrom {
  const place = parseEventId(after ?? '')
  return place ? { after: place } : { since: Date.parse(since ?? '') }
}

function presentWebhook({ secrets, ...webhook }: Webhook) {
  const { id, url, types, tenant, disabledReason, failingSince, createdAt, createdBy } = webhook
  const time = (at: number | null) => at && new Date(at).toISOString()
  const now = Date.now()
  const overlap = secrets.map(({ until }) => until ?? 0).filter((until) => until > now)
  return {
    ...{ id, url, types, tenant, allTenants: tenant === null },
    ...{ enabled: disabledReason === null, disabledReason },
    failingSince: time(failingSince),
    /** Until then, deliveries are signed with older secrets too. */
    olderSecretsUntil: time(Math.max(0, ...overlap) || null),
    createdAt: time(createdAt),
    createdBy,
  }
}
