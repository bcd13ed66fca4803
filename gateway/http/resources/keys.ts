import * as v from 'valibot'
import type { Scope } from '#keys/grant.ts'
import type { MadeKey } from '#keys/keys.ts'
import type { ApiKey } from '#keys/ports.ts'
import { keyChanges, keySettings, rotation } from '#keys/settings.ts'
import type { AnswerOf } from '../core/answers.ts'
import { succeed } from '../core/envelope.ts'
import { invalid } from '../core/errors.ts'
import { operation, resource } from '../core/operation.ts'
import { parseBody, readJson, readOptionalJson } from '../core/request.ts'
import type { AppDeps } from '../deps.ts'
import { membersOf } from './present.ts'
import * as schemas from './schemas.ts'

const time = v.nullable(schemas.time)
const presented = {
  id: v.pipe(v.string(), v.description('The id of the key, which is not secret.')),
  tenant: v.string(),
  scopes: v.array(schemas.scope),
  label: v.nullable(v.string()),
  categories: v.pipe(
    v.nullable(v.array(v.string())),
    v.description('The only categories that the key may issue and change; `null` = all.'),
  ),
  rateLimit: v.pipe(
    v.nullable(v.number()),
    v.description("Requests per second; `null` = the service's default."),
  ),
  createdAt: schemas.time,
  expiresAt: v.pipe(time, v.description('When the key expires; `null` = never.')),
  lastUsedAt: v.pipe(time, v.description('When the key was last used, exact to a minute.')),
  replacedBy: v.pipe(v.nullable(v.string()), v.description('The id of the key that replaced it.')),
}
export const keySchema = v.object(presented)
const shownSecret = v.pipe(
  v.string(),
  v.description('The API key itself, which is shown only here.'),
)
export const madeKey = v.object({ ...presented, secret: shownSecret })

const EXAMPLE_ID = '0123456789ab'
const EXAMPLE_SECRET = 'drk_bm90IGEgc2VjcmV0IG9mIGFueWJvZHksIGFuZCBub3RoaW5n'
const EXAMPLE_KEY = {
  id: EXAMPLE_ID,
  tenant: 'default',
  scopes: ['documents:issue', 'verify'],
  label: 'Front desk',
  categories: ['birth_certificate'],
  rateLimit: null,
  createdAt: '2026-11-21T08:36:39.000Z',
  expiresAt: '2099-01-01T00:00:00.000Z',
  lastUsedAt: null,
  replacedBy: null,
}

/** The common part of the operations. */
const KEY = { tag: 'Keys', scope: 'admin' } as const
const ONE_KEY = {
  ...KEY,
  parameters: { id: v.pipe(v.string(), v.metadata({ examples: [EXAMPLE_ID] })) },
} as const

const LIST = operation({
  ...KEY,
  operationId: 'listKeys',
  route: 'GET /v1/keys',
  summary: 'List the API keys',
  answer: {
    description: 'The keys of all tenants, the oldest first, without their secrets.',
    data: v.object({ keys: v.array(keySchema) }),
    example: { keys: [EXAMPLE_KEY] },
  },
  errors: ['store_unavailable'],
})

const CREATE = operation({
  ...KEY,
  operationId: 'createKey',
  route: 'POST /v1/keys',
  summary: 'Create an API key',
  body: {
    schema: keySettings,
    example: {
      scopes: ['documents:issue', 'verify'],
      label: 'Front desk',
      categories: ['birth_certificate'],
      expiresAt: '2099-01-01T00:00:00Z',
    },
  },
  answer: {
    status: 201,
    description: 'The key, which can be used at once.',
    data: madeKey,
    example: { ...EXAMPLE_KEY, secret: EXAMPLE_SECRET },
  },
  errors: ['too_many_keys', 'store_unavailable'],
})

const RETRIEVE = operation({
  ...ONE_KEY,
  operationId: 'retrieveKey',
  route: 'GET /v1/keys/:id',
  summary: 'Retrieve an API key',
  answer: { description: 'The key without its secret.', data: keySchema, example: EXAMPLE_KEY },
  errors: ['not_found', 'store_unavailable'],
})

const ROTATE = operation({
  ...ONE_KEY,
  operationId: 'rotateKey',
  route: 'POST /v1/keys/:id/rotate',
  summary: 'Replace an API key',
  description:
    'Creates a key of the same tenant with the same settings. The old one ends after `overlapSeconds`.',
  body: { schema: rotation, example: { overlapSeconds: 3600 }, isOptional: true },
  answer: {
    status: 201,
    description: 'The new key, and when the old one ends.',
    data: v.object({
      ...presented,
      secret: shownSecret,
      replaces: v.object({ id: v.string(), expiresAt: schemas.time }),
    }),
    example: {
      ...EXAMPLE_KEY,
      id: 'ba9876543210',
      secret: EXAMPLE_SECRET,
      replaces: { id: EXAMPLE_ID, expiresAt: '2026-11-21T09:36:39.000Z' },
    },
  },
  errors: ['not_found', 'already_rotated', 'too_many_keys', 'store_unavailable'],
})

const CHANGE = operation({
  ...ONE_KEY,
  operationId: 'changeKey',
  route: 'PATCH /v1/keys/:id',
  summary: 'Change an API key',
  description: 'Changes only the members that are sent; `null` removes a setting.',
  body: {
    schema: keyChanges,
    example: { label: 'Back office', categories: null },
    isOptional: true,
  },
  answer: {
    description: 'The changed key. The change applies from the next request on.',
    data: keySchema,
    example: { ...EXAMPLE_KEY, label: 'Back office', categories: null },
  },
  errors: ['not_found', 'store_unavailable'],
})

const REVOKE = operation({
  ...ONE_KEY,
  operationId: 'revokeKey',
  route: 'DELETE /v1/keys/:id',
  summary: 'Revoke an API key',
  answer: {
    description: 'The key is revoked, and no further request with it is accepted.',
    data: schemas.removed,
    example: { id: EXAMPLE_ID, deleted: true },
  },
  errors: ['not_found', 'store_unavailable'],
})

const OPERATIONS = [LIST, CREATE, RETRIEVE, ROTATE, CHANGE, REVOKE]

type KeyDeps = Pick<AppDeps, 'keys' | 'log'> & {
  /** @returns Why a key may not get these scopes. */
  problemOf(scopes: readonly Scope[]): string | undefined
}

/** Serves the administration of API keys of all tenants. */
export const keyRoutes = resource<KeyDeps>(
  OPERATIONS,
  (serve, { keys, log, problemOf }) => {
    /** @throws {ApiError} `bad_fields` */
    function assertUsed({ scopes = [] }: { scopes?: readonly Scope[] }): void {
      const message = problemOf(scopes)
      if (message !== undefined) throw invalid('bad_fields', [{ field: 'scopes', message }])
    }

    serve(LIST, async (c) => succeed(c, LIST, { keys: (await keys.list()).map(presentKey) }))

    serve(CREATE, async (c) => {
      const settings = parseBody(keySettings, await readJson(c))
      assertUsed(settings)
      const made = await keys.create(settings)
      log.info('api_key_created', { id: made.key.id, by: c.get('grant').id })
      return succeed(c, CREATE, presentMade(made))
    })

    serve(RETRIEVE, async (c) =>
      succeed(c, RETRIEVE, presentKey(await keys.get(c.req.param('id')))),
    )

    serve(ROTATE, async (c) => {
      const options = parseBody(rotation, await readOptionalJson(c))
      const { old, ...made } = await keys.rotate(c.req.param('id'), options)
      log.info('api_key_rotated', { id: old.id, to: made.key.id, by: c.get('grant').id })
      const replaces = { id: old.id, expiresAt: old.expiresAt }
      return succeed(c, ROTATE, { ...presentMade(made), replaces })
    })

    serve(CHANGE, async (c) => {
      const changes = parseBody(keyChanges, await readOptionalJson(c))
      assertUsed(changes)
      const key = await keys.change(c.req.param('id'), changes)
      log.info('api_key_changed', { id: key.id, by: c.get('grant').id })
      return succeed(c, CHANGE, presentKey(key))
    })

    serve(REVOKE, async (c) => {
      const id = c.req.param('id')
      await keys.revoke(id)
      log.info('api_key_revoked', { id, by: c.get('grant').id })
      return succeed(c, REVOKE, { id, deleted: true })
    })
  },
  { ApiKey: keySchema, ApiKeyWithSecret: madeKey },
)

function presentMade({ key, secret }: MadeKey): AnswerOf<typeof madeKey> {
  return { ...presentKey(key), secret }
}

/** The digest is omitted, because nobody can use it. */
const presentKey = (key: ApiKey) => membersOf(presented, key)
