import { randomBytes } from 'node:crypto'
import type { Hono } from 'hono'
import * as v from 'valibot'
import { EVENT_TYPES, parseEventId } from '../../events.ts'
import type { FindKey, Grant } from '../../grant.ts'
import { rotate, type WebhookSecrets } from '../../webhooks/secrets.ts'
import type { ReplayFrom, Webhook, WebhookId, Webhooks } from '../../webhooks/webhook.ts'
import { authorize } from '../authorize.ts'
import type { Env } from '../env.ts'
import { succeed } from '../envelope.ts'
import { ApiError } from '../errors.ts'
import { problemsOf, readJson } from '../request.ts'

export type WebhookDeps = {
  findKey: FindKey
  webhooks: Webhooks
  webhookSecrets: WebhookSecrets
  /** Rejects for a host that events may not be sent to. */
  checkWebhookHost: (hostname: string) => Promise<unknown>
  /** Whether `http` is accepted too. */
  mayWebhookUseHttp: boolean
}

const MAX_URL_LENGTH = 2_048
const MAX_OVERLAP_SECONDS = 7 * 86_400

const isObject = v.custom<object>((body) => !Array.isArray(body), 'must be a JSON object')
const url = v.pipe(
  v.string('must be a URL'),
  v.maxLength(MAX_URL_LENGTH, `must have at most ${MAX_URL_LENGTH} characters`),
  v.check((text) => URL.parse(text) !== null, 'must be a URL'),
  v.check((text) => {
    const { username, password, hash } = URL.parse(text) ?? { username: '', password: '', hash: '' }
    return username + password + hash === ''
  }, 'must have no user, password or fragment'),
)
const types = v.nullable(
  v.pipe(
    v.array(
      v.picklist(EVENT_TYPES, `must be one of ${EVENT_TYPES.join(', ')}`),
      'must be a list of types, or null for all',
    ),
    v.minLength(1, 'must name a type; null means all'),
    v.check((list) => new Set(list).size === list.length, 'must not name a type twice'),
  ),
)
const creation = v.pipe(
  isObject,
  v.strictObject({
    url,
    types: v.optional(types, null),
    allTenants: v.optional(v.boolean('must be true or false'), false),
  }),
)
const change = v.pipe(
  isObject,
  v.strictObject({
    url: v.exactOptional(url),
    types: v.exactOptional(types),
    enabled: v.exactOptional(v.boolean('must be true or false')),
  }),
)
const rotation = v.pipe(
  isObject,
  v.strictObject({
    overlapSeconds: v.optional(
      v.pipe(
        v.number('must be a number'),
        v.integer('must be a whole number'),
        v.minValue(0, 'must be at least 0'),
        v.maxValue(MAX_OVERLAP_SECONDS, `must be at most ${MAX_OVERLAP_SECONDS}`),
      ),
      86_400,
    ),
  }),
)
const replay = v.pipe(
  isObject,
  v.strictObject({
    after: v.exactOptional(
      v.pipe(
        v.string('must be the id of an event'),
        v.check((text) => parseEventId(text) !== undefined, 'must be the id of an event'),
      ),
    ),
    since: v.exactOptional(
      v.pipe(v.string('must be an RFC 3339 time'), v.isoTimestamp('must be an RFC 3339 time')),
    ),
  }),
  v.check(
    ({ after, since }) => (after === undefined) !== (since === undefined),
    'must have either after or since',
  ),
)

/**
 * POST, GET /v1/webhooks; GET, PATCH, DELETE /v1/webhooks/{id}; POST /v1/webhooks/{id}/rotate,
 * /replay: receivers of events. A key sees the webhooks of its tenant, an admin all.
 */
export function webhookRoutes(app: Hono<Env>, deps: WebhookDeps): void {
  const { findKey, webhooks, webhookSecrets } = deps
  const allowed = authorize(findKey, 'webhooks', {})
  const reveal = (webhook: Webhook, [newest] = webhook.secrets) => ({
    ...presentWebhook(webhook),
    ...(newest && { secret: webhookSecrets.reveal(newest) }),
  })

  app.post('/v1/webhooks', allowed, async (c) => {
    const webhook = await readWebhook(deps, await readJson(c), c.get('grant'))
    if (!(await webhooks.add(webhook)))
      throw new ApiError('too_many_webhooks', 'the tenant has the maximum number of webhooks')
    return succeed(c, reveal(webhook), 201)
  })

  app.get('/v1/webhooks', allowed, async (c) => {
    const list = await webhooks.list(tenantOf(c.get('grant')))
    return succeed(c, { webhooks: list.map(presentWebhook) })
  })

  app.get('/v1/webhooks/:id', allowed, async (c) =>
    succeed(c, presentWebhook(await find(deps, c.req.param('id'), c.get('grant')))),
  )

  app.patch('/v1/webhooks/:id', allowed, async (c) => {
    const { id } = await find(deps, c.req.param('id'), c.get('grant'))
    const { enabled, ...changed } = parseBody(change, await readJson(c))
    if (changed.url !== undefined) await checkUrl(deps, changed.url)
    const state = enabled
      ? { disabledReason: null, failingSince: null }
      : enabled === false && { disabledReason: 'request' as const }
    const webhook = await webhooks.change(id, { ...changed, ...state })
    return succeed(c, presentWebhook(webhook ?? notFound()))
  })

  app.delete('/v1/webhooks/:id', allowed, async (c) => {
    const { id } = await find(deps, c.req.param('id'), c.get('grant'))
    await webhooks.remove(id)
    return succeed(c, { id, deleted: true })
  })

  app.post('/v1/webhooks/:id/rotate', allowed, async (c) => {
    const { id, secrets } = await find(deps, c.req.param('id'), c.get('grant'))
    const { overlapSeconds } = parseBody(rotation, await readJson(c))
    const rotated = rotate(secrets, webhookSecrets.create(), Date.now(), overlapSeconds * 1000)
    return succeed(c, reveal((await webhooks.change(id, { secrets: rotated })) ?? notFound()))
  })

  app.post('/v1/webhooks/:id/replay', allowed, async (c) => {
    const webhook = await find(deps, c.req.param('id'), c.get('grant'))
    const from = placeOf(parseBody(replay, await readJson(c)))
    if ((await webhooks.replay(webhook.id, from)) === 'unknown_event')
      throw new ApiError('unknown_event', 'the event is not kept (any more): give a time instead')
    return succeed(c, presentWebhook(webhook), 202)
  })
}

/** @returns Whose webhooks a key may see; `undefined` for all. */
function tenantOf({ tenant, scopes }: Grant): string | undefined {
  return scopes.includes('admin') ? undefined : tenant
}

/** @throws {ApiError} `not_found`, also for a webhook that the key may not see. */
async function find({ webhooks }: WebhookDeps, id: string, grant: Grant): Promise<Webhook> {
  const list = await webhooks.list(tenantOf(grant))
  return list.find((webhook) => webhook.id === id) ?? notFound()
}

function notFound(): never {
  throw new ApiError('not_found', 'no such webhook')
}

/** @throws {ApiError} `bad_fields`, `forbidden`. */
async function readWebhook(deps: WebhookDeps, body: unknown, grant: Grant): Promise<Webhook> {
  const { url, types, allTenants } = parseBody(creation, body)
  if (allTenants && !grant.scopes.includes('admin'))
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

function placeOf({ after, since }: v.InferOutput<typeof replay>): ReplayFrom {
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

/** @throws {ApiError} `bad_fields`, naming every bad field. */
function parseBody<T>(schema: v.GenericSchema<object, T>, body: unknown): T {
  const result = v.safeParse(schema, body)
  if (result.success) return result.output
  throw new ApiError('bad_fields', 'invalid fields', { details: problemsOf(result.issues) })
}
