import type { Hono } from 'hono'
import type { Log } from '#base/log.ts'
import type { FindKey } from '#keys/grant.ts'
import type { Keys, MadeKey } from '#keys/keys.ts'
import type { ApiKey } from '#keys/ports.ts'
import { keyChanges, keySettings, rotation } from '#keys/settings.ts'
import type { Env } from '../core/env.ts'
import { succeed } from '../core/envelope.ts'
import { serve } from '../core/operation.ts'
import { parseBody, readJson, readOptionalJson } from '../core/request.ts'
import { CHANGE, CREATE, LIST, RETRIEVE, REVOKE, ROTATE } from './key-operations.ts'

export type KeyDeps = { findKey: FindKey; keys: Keys; log: Log }

/** The administration of API keys, of all tenants. */
export function keyRoutes(app: Hono<Env>, { findKey, keys, log }: KeyDeps): void {
  serve(app, LIST, findKey, async (c) => succeed(c, { keys: (await keys.list()).map(presentKey) }))

  serve(app, CREATE, findKey, async (c) => {
    const made = await keys.create(parseBody(keySettings, await readJson(c)))
    log.info('api_key_created', { id: made.key.id, by: c.get('grant').id })
    return succeed(c, presentMade(made), 201)
  })

  serve(app, RETRIEVE, findKey, async (c) =>
    succeed(c, presentKey(await keys.get(c.req.param('id')))),
  )

  serve(app, ROTATE, findKey, async (c) => {
    const options = parseBody(rotation, await readOptionalJson(c))
    const { old, ...made } = await keys.rotate(c.req.param('id'), options)
    log.info('api_key_rotated', { id: old.id, to: made.key.id, by: c.get('grant').id })
    const replaces = { id: old.id, expiresAt: old.expiresAt }
    return succeed(c, { ...presentMade(made), replaces }, 201)
  })

  serve(app, CHANGE, findKey, async (c) => {
    const changes = parseBody(keyChanges, await readOptionalJson(c))
    const key = await keys.change(c.req.param('id'), changes)
    log.info('api_key_changed', { id: key.id, by: c.get('grant').id })
    return succeed(c, presentKey(key))
  })

  serve(app, REVOKE, findKey, async (c) => {
    const id = c.req.param('id')
    await keys.revoke(id)
    log.info('api_key_revoked', { id, by: c.get('grant').id })
    return succeed(c, { id, deleted: true })
  })
}

function presentMade({ key, secret }: MadeKey): object {
  return { ...presentKey(key), secret }
}

/** Without the digest, which is of use to nobody. */
function presentKey(key: ApiKey): object {
  return {
    ...{ id: key.id, tenant: key.tenant, scopes: key.scopes },
    label: key.label ?? null,
    categories: key.categories ?? null,
    rateLimit: key.rateLimit ?? null,
    createdAt: key.createdAt,
    expiresAt: key.expiresAt ?? null,
    lastUsedAt: key.lastUsedAt ?? null,
    replacedBy: key.replacedBy ?? null,
  }
}
