import * as v from 'valibot'
import { EVENT_TYPES } from '#events/events.ts'
import { INSTANT } from '#keys/settings.ts'
import { operation } from '../core/operation.ts'
import * as schemas from './schemas.ts'

const MAX_URL_LENGTH = 2_048
const MAX_OVERLAP_SECONDS = 7 * 86_400

const url = v.pipe(
  v.string('must be a URL'),
  v.maxLength(MAX_URL_LENGTH, `must have at most ${MAX_URL_LENGTH} characters`),
  v.check((text) => URL.parse(text) !== null, 'must be a URL'),
  v.check((text) => {
    const { username, password, hash } = URL.parse(text) ?? { username: '', password: '', hash: '' }
    return username + password + hash === ''
  }, 'must have no user, password or fragment'),
  v.metadata({ format: 'uri', pattern: '^https?://[^/?#@]+([/?][^#]*)?$' }),
)
const types = v.nullable(
  v.pipe(
    v.array(
      v.picklist(EVENT_TYPES, `must be one of ${EVENT_TYPES.join(', ')}`),
      'must be a list of types, or null for all',
    ),
    v.minLength(1, 'must name a type; null means all'),
    v.check((list) => new Set(list).size === list.length, 'must not name a type twice'),
    v.metadata({ uniqueItems: true }),
  ),
)
export const creation = v.strictObject({
  url,
  types: v.optional(types, null),
  allTenants: v.optional(v.boolean('must be true or false'), false),
})
export const change = v.strictObject({
  url: v.exactOptional(url),
  types: v.exactOptional(types),
  enabled: v.exactOptional(v.boolean('must be true or false')),
})
export const rotation = v.strictObject({
  overlapSeconds: v.optional(
    v.pipe(
      v.number('must be a number'),
      v.integer('must be a whole number'),
      v.minValue(0, 'must be at least 0'),
      v.maxValue(MAX_OVERLAP_SECONDS, `must be at most ${MAX_OVERLAP_SECONDS}`),
    ),
    86_400,
  ),
})
export const replay = v.pipe(
  v.strictObject({
    after: v.exactOptional(schemas.eventId),
    since: v.exactOptional(
      v.pipe(
        v.string('must be an RFC 3339 time'),
        v.regex(INSTANT, 'must be an RFC 3339 time'),
        v.metadata({ format: 'date-time' }),
      ),
    ),
  }),
  v.check(
    ({ after, since }) => (after === undefined) !== (since === undefined),
    'must have either after or since',
  ),
  v.metadata({ minProperties: 1, maxProperties: 1, description: 'Either `after` or `since`.' }),
)

const time = v.nullable(v.pipe(v.string(), v.isoTimestamp()))
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
    v.description('Until then, deliveries are signed with older secrets too.'),
  ),
  createdAt: time,
  createdBy: v.string(),
}
export const webhookSchema = v.object(presented)
export const revealedWebhook = v.object({
  ...presented,
  secret: v.exactOptional(v.pipe(v.string(), v.description('Shown only here.'))),
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

/** What the operations have in common. */
const WEBHOOK = { tag: 'Webhooks', scope: 'webhooks', query: {} } as const
const ONE_WEBHOOK = {
  ...WEBHOOK,
  path: '/v1/webhooks/:id',
  parameters: { id: v.pipe(v.string(), v.metadata({ examples: [schemas.EXAMPLE_WEBHOOK_ID] })) },
} as const

export const CREATE = operation({
  ...WEBHOOK,
  operationId: 'createWebhook',
  method: 'post',
  path: '/v1/webhooks',
  summary: 'Add a receiver of events',
  description:
    'Events are sent as the [Standard Webhooks](https://www.standardwebhooks.com) specification says, signed with the secret in the answer.',
  body: {
    schema: creation,
    example: {
      url: schemas.EXAMPLE_RECEIVER,
      types: ['document.issued', 'document.revoked'],
    },
  },
  responses: {
    201: {
      description: 'It gets the events from now on.',
      data: revealedWebhook,
      example: { ...EXAMPLE_WEBHOOK, secret: 'whsec_bm90IGEgc2VjcmV0IG9mIGFueWJvZHk=' },
    },
  },
  errors: ['too_many_webhooks', 'store_unavailable'],
})

export const LIST = operation({
  ...WEBHOOK,
  operationId: 'listWebhooks',
  method: 'get',
  path: '/v1/webhooks',
  summary: 'List the receivers of events',
  responses: {
    200: {
      description: "Those of the key's tenant; with the scope `admin`, all.",
      data: v.object({ webhooks: v.array(webhookSchema) }),
      example: { webhooks: [EXAMPLE_WEBHOOK] },
    },
  },
  errors: [],
})

export const RETRIEVE = operation({
  ...ONE_WEBHOOK,
  operationId: 'retrieveWebhook',
  method: 'get',
  summary: 'Retrieve a receiver',
  responses: {
    200: { description: 'Without its secret.', data: webhookSchema, example: EXAMPLE_WEBHOOK },
  },
  errors: ['not_found'],
})

export const CHANGE = operation({
  ...ONE_WEBHOOK,
  operationId: 'changeWebhook',
  method: 'patch',
  summary: 'Change a receiver, or stop and start it',
  description: 'One that is enabled again goes on where it stopped.',
  body: { schema: change, example: { enabled: false }, isOptional: true },
  responses: {
    200: { description: 'As changed.', data: webhookSchema, example: EXAMPLE_WEBHOOK },
  },
  errors: ['not_found', 'store_unavailable'],
})

export const REMOVE = operation({
  ...ONE_WEBHOOK,
  operationId: 'removeWebhook',
  method: 'delete',
  summary: 'Remove a receiver',
  responses: {
    200: {
      description: 'It gets nothing more.',
      data: v.object({ id: v.string(), deleted: v.literal(true) }),
      example: { id: schemas.EXAMPLE_WEBHOOK_ID, deleted: true },
    },
  },
  errors: ['not_found', 'store_unavailable'],
})

export const ROTATE = operation({
  ...ONE_WEBHOOK,
  operationId: 'rotateWebhookSecret',
  method: 'post',
  path: '/v1/webhooks/:id/rotate',
  summary: 'Give a receiver a new secret',
  description: 'For `overlapSeconds`, deliveries are signed with the older secret too.',
  body: { schema: rotation, example: { overlapSeconds: 3600 }, isOptional: true },
  responses: {
    200: {
      description: 'With the new secret.',
      data: revealedWebhook,
      example: {
        ...EXAMPLE_WEBHOOK,
        olderSecretsUntil: '2026-11-21T09:36:39.000Z',
        secret: 'whsec_bm90IGEgc2VjcmV0IG9mIGFueWJvZHk=',
      },
    },
  },
  errors: ['not_found', 'store_unavailable'],
})

export const REPLAY = operation({
  ...ONE_WEBHOOK,
  operationId: 'replayEvents',
  method: 'post',
  path: '/v1/webhooks/:id/replay',
  summary: 'Send events to a receiver again',
  body: { schema: replay, example: { since: '2026-11-21T00:00:00Z' } },
  responses: {
    202: { description: 'They are on their way.', data: webhookSchema, example: EXAMPLE_WEBHOOK },
  },
  errors: ['not_found', 'unknown_event', 'store_unavailable'],
})

export const webhookOperations = [CREATE, LIST, RETRIEVE, CHANGE, REMOVE, ROTATE, REPLAY]
