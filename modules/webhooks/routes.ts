import { randomBytes } from 'node:crypto'
import * as v from 'valibot'
import { clock } from '#base/clock.ts'
import type { JsonValue } from '#document/json.ts'
import { EVENT_TYPES, parseEventId } from '#events/events.ts'
import { succeed } from '#http/core/envelope.ts'
import { ApiError, invalid } from '#http/core/errors.ts'
import { operation, resource } from '#http/core/operation.ts'
import { createPlaces } from '#http/core/places.ts'
import { parseBody, readJson, readOptionalJson } from '#http/core/request.ts'
import * as schemas from '#http/resources/schemas.ts'
import { type Grant, shareOf, tenantOf } from '#keys/grant.ts'
import { INSTANT, whole } from '#keys/settings.ts'
import { rotate, type WebhookSecrets } from './secrets.ts'
import type { ReplayFrom, Webhook, WebhookId, Webhooks } from './webhook.ts'

const MAX_URL_LENGTH = 2_048
/** Tests under way, each of which may take ten seconds. */
const MAX_TESTS = { all: 16, each: 4 }
const MAX_OVERLAP_SECONDS = 7 * 86_400

const receiverUrl = v.pipe(
  v.string('must be a URL'),
  v.maxLength(MAX_URL_LENGTH, `must have at most ${MAX_URL_LENGTH} characters`),
  v.check((text) => URL.parse(text) !== null, 'must be a URL'),
  v.check((text) => {
    const { username, password, hash } = URL.parse(text) ?? { username: '', password: '', hash: '' }
    return username + password + hash === ''
  }, 'must have no user, password or fragment'),
  v.metadata({ pattern: '^https?://[^/?#@]+([/?][^#]*)?$' }),
)
const eventTypes = v.nullable(
  v.pipe(
    v.array(
      v.picklist(EVENT_TYPES, `must be one of ${EVENT_TYPES.join(', ')}`),
      'must be a list of types, or null for all',
    ),
    v.minLength(1, 'must name at least one type; null means all'),
    v.check((list) => new Set(list).size === list.length, 'must not name a type twice'),
    v.metadata({ uniqueItems: true }),
  ),
)
const creation = v.strictObject({
  url: receiverUrl,
  types: v.exactOptional(eventTypes),
  allTenants: v.optional(v.boolean('must be true or false'), false),
})
const change = v.strictObject({
  url: v.exactOptional(receiverUrl),
  types: v.exactOptional(eventTypes),
  enabled: v.exactOptional(v.boolean('must be true or false')),
})
const rotation = v.strictObject({
  overlapSeconds: v.optional(whole(0, MAX_OVERLAP_SECONDS), 86_400),
})
const replay = v.pipe(
  v.strictObject({
    after: v.exactOptional(schemas.eventId),
    since: v.exactOptional(
      v.pipe(
        v.string('must be an RFC 3339 time'),
        v.check((text) => INSTANT.test(text), 'must be an RFC 3339 time'),
        v.metadata({ format: 'date-time' }),
      ),
    ),
  }),
  v.check(
    ({ after, since }) => (after === undefined) !== (since === undefined),
    'must have either after or since',
  ),
  v.metadata({
    minProperties: 1,
    maxProperties: 1,
    description: 'Where to begin; has either `after` or `since`.',
  }),
)

const time = v.nullable(schemas.time)
const presented = {
  id: v.string(),
  url: v.string(),
  types: v.nullable(v.array(schemas.eventType)),
  tenant: v.nullable(v.string()),
  allTenants: v.boolean(),
  enabled: v.boolean(),
  disabledReason: v.nullable(v.picklist(['request', 'failing', 'gone', 'behind'])),
  failingSince: time,
  olderSecretsUntil: v.pipe(
    time,
    v.description('Until then, deliveries are also signed with older secrets.'),
  ),
  createdAt: time,
  createdBy: v.string(),
}
export const webhookSchema = v.object(presented)
export const revealedWebhook = v.object({
  ...presented,
  secret: v.exactOptional(
    v.pipe(v.string(), v.description('The signing secret, which is shown only here.')),
  ),
})

const EXAMPLE_WEBHOOK = {
  id: schemas.EXAMPLE_WEBHOOK_ID,
  url: schemas.EXAMPLE_RECEIVER,
  types: ['document.issued', 'document.revoked'],
  tenant: 'default',
  allTenants: false,
  enabled: true,
  disabledReason: null,
  failingSince: null,
  olderSecretsUntil: null,
  createdAt: '2026-11-21T08:36:39.000Z',
  createdBy: 'environment',
}

/** The common part of the operations. */
const WEBHOOK = { tag: 'Webhooks', scope: 'webhooks' } as const
const ONE_WEBHOOK = {
  ...WEBHOOK,
  parameters: { id: v.pipe(v.string(), v.metadata({ examples: [schemas.EXAMPLE_WEBHOOK_ID] })) },
} as const

const CREATE = operation({
  ...WEBHOOK,
  operationId: 'createWebhook',
  route: 'POST /v1/webhooks',
  summary: 'Add a receiver of events',
  description:
    'Events are sent according to the [Standard Webhooks](https://www.standardwebhooks.com) specification, signed with the secret in the answer.',
  body: {
    schema: creation,
    example: {
      url: schemas.EXAMPLE_RECEIVER,
      types: ['document.issued', 'document.revoked'],
    },
  },
  answer: {
    status: 201,
    description: 'The receiver, which gets the events from now on.',
    data: revealedWebhook,
    example: { ...EXAMPLE_WEBHOOK, secret: 'whsec_bm90IGEgc2VjcmV0IG9mIGFueWJvZHk=' },
  },
  errors: ['too_many_webhooks', 'store_unavailable'],
})

const LIST = operation({
  ...WEBHOOK,
  operationId: 'listWebhooks',
  route: 'GET /v1/webhooks',
  summary: 'List the receivers of events',
  answer: {
    description: "The receivers of the key's tenant; with the scope `admin`, of all tenants.",
    data: v.object({ webhooks: v.array(webhookSchema) }),
    example: { webhooks: [EXAMPLE_WEBHOOK] },
  },
})

const RETRIEVE = operation({
  ...ONE_WEBHOOK,
  operationId: 'retrieveWebhook',
  route: 'GET /v1/webhooks/:id',
  summary: 'Retrieve a receiver',
  answer: {
    description: 'The receiver without its secret.',
    data: webhookSchema,
    example: EXAMPLE_WEBHOOK,
  },
  errors: ['not_found'],
})

const CHANGE = operation({
  ...ONE_WEBHOOK,
  operationId: 'changeWebhook',
  route: 'PATCH /v1/webhooks/:id',
  summary: 'Change a receiver, or stop and start it',
  description: 'A receiver that is enabled again continues where it stopped.',
  body: { schema: change, example: { enabled: false }, isOptional: true },
  answer: { description: 'The changed receiver.', data: webhookSchema, example: EXAMPLE_WEBHOOK },
  errors: ['not_found', 'store_unavailable'],
})

const REMOVE = operation({
  ...ONE_WEBHOOK,
  operationId: 'removeWebhook',
  route: 'DELETE /v1/webhooks/:id',
  summary: 'Remove a receiver',
  answer: {
    description: 'The receiver is removed and gets no more events.',
    data: schemas.removed,
    example: { id: schemas.EXAMPLE_WEBHOOK_ID, deleted: true },
  },
  errors: ['not_found', 'store_unavailable'],
})

const ROTATE = operation({
  ...ONE_WEBHOOK,
  operationId: 'rotateWebhookSecret',
  route: 'POST /v1/webhooks/:id/rotate',
  summary: 'Give a receiver a new secret',
  description: 'For `overlapSeconds`, deliveries are also signed with the older secret.',
  body: { schema: rotation, example: { overlapSeconds: 3600 }, isOptional: true },
  answer: {
    description: 'The receiver with its new secret.',
    data: revealedWebhook,
    example: {
      ...EXAMPLE_WEBHOOK,
      olderSecretsUntil: '2026-11-21T09:36:39.000Z',
      secret: 'whsec_bm90IGEgc2VjcmV0IG9mIGFueWJvZHk=',
    },
  },
  errors: ['not_found', 'store_unavailable'],
})

const REPLAY = operation({
  ...ONE_WEBHOOK,
  operationId: 'replayEvents',
  route: 'POST /v1/webhooks/:id/replay',
  summary: 'Send events to a receiver again',
  body: { schema: replay, example: { since: '2026-11-21T00:00:00Z' } },
  answer: {
    status: 202,
    description: 'The events will be sent again.',
    data: webhookSchema,
    example: EXAMPLE_WEBHOOK,
  },
  errors: ['not_found', 'unknown_event', 'store_unavailable'],
})

const TEST = operation({
  ...ONE_WEBHOOK,
  operationId: 'testWebhook',
  route: 'POST /v1/webhooks/:id/test',
  summary: 'Send a test message to a receiver',
  description: 'The message has the type `webhook.test` and is signed like an event.',
  answer: {
    description: 'What became of it. `failed`: no answer within ten seconds, or another than 2xx.',
    data: v.object({ outcome: v.picklist(['delivered', 'gone', 'failed']) }),
    example: { outcome: 'failed' },
  },
  errors: ['not_found', 'overloaded', 'store_unavailable'],
})

const OPERATIONS = [CREATE, LIST, RETRIEVE, CHANGE, REMOVE, ROTATE, REPLAY, TEST]

/** What the routes need. */
export type WebhookDeps = {
  webhooks: Webhooks
  webhookSecrets: WebhookSecrets
  /** Rejects for a host to which events may not be sent. */
  checkWebhookHost: (hostname: string) => Promise<unknown>
  /** Sends a test message. It says nothing about a document, and counts as no delivery. */
  testWebhook: (webhook: Webhook) => Promise<'delivered' | 'gone' | 'failed'>
  /** Whether `http` is accepted too. */
  mayWebhookUseHttp: boolean
}

/**
 * Serves webhooks, which receive events. A key sees the webhooks of its tenant, an admin key all.
 */
export const webhookRoutes = resource<WebhookDeps>(
  OPERATIONS,
  (serve, deps) => {
    const { webhooks, webhookSecrets } = deps
    const places = createPlaces(MAX_TESTS, 'tests of webhooks')
    const reveal = (webhook: Webhook, [newest] = webhook.secrets) => ({
      ...presentWebhook(webhook),
      ...(newest && { secret: webhookSecrets.reveal(newest) }),
    })

    serve(CREATE, async (c) => {
      const webhook = await readWebhook(deps, await readJson(c), c.get('grant'))
      if (!(await webhooks.add(webhook)))
        throw new ApiError(
          'too_many_webhooks',
          'the tenant already has the maximum number of webhooks',
        )
      return succeed(c, CREATE, reveal(webhook))
    })

    serve(LIST, async (c) => {
      const list = await webhooks.list(tenantOf(c.get('grant')) ?? undefined)
      return succeed(c, LIST, { webhooks: list.map(presentWebhook) })
    })

    serve(RETRIEVE, async (c) =>
      succeed(c, RETRIEVE, presentWebhook(await find(deps, c.req.param('id'), c.get('grant')))),
    )

    serve(CHANGE, async (c) => {
      const { id } = await find(deps, c.req.param('id'), c.get('grant'))
      const { enabled, ...changed } = parseBody(change, await readOptionalJson(c))
      if (changed.url !== undefined) await checkUrl(deps, changed.url)
      const state = enabled
        ? { disabledReason: null, failingSince: null }
        : enabled === false && { disabledReason: 'request' as const }
      const webhook = await webhooks.change(id, () => ({ ...changed, ...state }))
      return succeed(c, CHANGE, presentWebhook(webhook ?? notFound()))
    })

    serve(REMOVE, async (c) => {
      const { id } = await find(deps, c.req.param('id'), c.get('grant'))
      await webhooks.remove(id)
      return succeed(c, REMOVE, { id, deleted: true })
    })

    serve(ROTATE, async (c) => {
      const { id } = await find(deps, c.req.param('id'), c.get('grant'))
      const { overlapSeconds } = parseBody(rotation, await readOptionalJson(c))
      const next = webhookSecrets.create()
      const webhook = await webhooks.change(id, ({ secrets }) => ({
        secrets: rotate(secrets, next, clock.now(), overlapSeconds * 1000),
      }))
      return succeed(c, ROTATE, {
        ...presentWebhook(webhook ?? notFound()),
        secret: webhookSecrets.reveal(next),
      })
    })

    serve(TEST, async (c) => {
      const webhook = await find(deps, c.req.param('id'), c.get('grant'))
      const leave = places.enter(shareOf(c.get('grant')))
      try {
        return succeed(c, TEST, { outcome: await deps.testWebhook(webhook) })
      } finally {
        leave()
      }
    })

    serve(REPLAY, async (c) => {
      const webhook = await find(deps, c.req.param('id'), c.get('grant'))
      const from = placeOf(parseBody(replay, await readJson(c)))
      if ((await webhooks.replay(webhook.id, from)) === 'unknown_event')
        throw new ApiError(
          'unknown_event',
          'the event is unknown or has expired; use a time instead',
        )
      return succeed(c, REPLAY, presentWebhook(webhook))
    })
  },
  { Webhook: webhookSchema, WebhookWithSecret: revealedWebhook },
)

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
  const { url, types = null, allTenants } = parseBody(creation, body)
  if (allTenants && tenantOf(grant) !== null)
    throw new ApiError('forbidden', 'allTenants requires an API key with the scope admin')
  await checkUrl(deps, url)
  const id: WebhookId = `wh_${randomBytes(12).toString('hex')}`
  const [createdBy, tenant] = [grant.id, allTenants ? null : grant.tenant]
  const secrets = [deps.webhookSecrets.create()]
  const state = { disabledReason: null, failingSince: null }
  return { id, tenant, createdBy, createdAt: clock.wall(), url, types, secrets, ...state }
}

/** @throws {ApiError} `bad_fields` for an address to which events may not be sent. */
async function checkUrl(
  { checkWebhookHost, mayWebhookUseHttp }: WebhookDeps,
  url: string,
): Promise<void> {
  const refuse = (message: string, cause?: unknown): never => {
    throw invalid('bad_fields', [{ field: 'url', message }], cause)
  }
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'https:' && !(mayWebhookUseHttp && protocol === 'http:'))
    refuse('must be an https URL')
  await checkWebhookHost(hostname).catch((cause) =>
    refuse('must have a host name that resolves to a public address', cause),
  )
}

function placeOf({ after, since }: v.InferOutput<typeof replay>): ReplayFrom {
  const place = parseEventId(after ?? '')
  return place ? { after: place } : { since: Date.parse(since ?? '') }
}

function presentWebhook({ secrets, ...webhook }: Webhook) {
  const { id, url, types, tenant, disabledReason, failingSince, createdAt, createdBy } = webhook
  const instantOf = (at: number) => new Date(at).toISOString()
  const now = clock.now()
  const overlap = secrets.map(({ until }) => until ?? 0).filter((until) => until > now)
  return {
    id,
    url,
    types,
    tenant,
    allTenants: tenant === null,
    enabled: disabledReason === null,
    disabledReason,
    failingSince: failingSince === null ? null : instantOf(failingSince),
    olderSecretsUntil: overlap.length === 0 ? null : instantOf(Math.max(...overlap)),
    createdAt: instantOf(createdAt),
    createdBy,
  }
}
