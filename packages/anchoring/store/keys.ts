import { SCOPES } from '#keys/grant.ts'
import type { ApiKey, KeyStore } from '#keys/ports.ts'
import type { KeysDatabase } from './database.ts'
import { all, first, type Row, statement, type Work } from './sql.ts'

const SELECT_VERSION = statement('SELECT version FROM key_change')
// This comes first, so that changes come one after another.
const CHANGE = statement('UPDATE key_change SET version = version + 1')
const SELECT_ALL = statement('SELECT * FROM api_key ORDER BY position')
const SELECT = statement('SELECT * FROM api_key WHERE id = :id')
const DELETE = statement('DELETE FROM api_key WHERE id = :id RETURNING id')
const PUT = statement(`
  INSERT INTO api_key (id, digest, tenant, scopes, label, categories, rate_limit, created_at,
    expires_at, last_used_at, replaced_by)
  VALUES (:id, :digest, :tenant, :scopes, :label, :categories, :rateLimit, :createdAt, :expiresAt,
    :lastUsedAt, :replacedBy)
  ON CONFLICT (id) DO UPDATE SET digest = excluded.digest, tenant = excluded.tenant,
    scopes = excluded.scopes, label = excluded.label, categories = excluded.categories,
    rate_limit = excluded.rate_limit, created_at = excluded.created_at,
    expires_at = excluded.expires_at, last_used_at = excluded.last_used_at,
    replaced_by = excluded.replaced_by`)
const MARK_USED = statement(
  (sql) => `
    UPDATE api_key
    SET last_used_at = ${sql.larger('coalesce(last_used_at, item.time)', 'item.time')}
    FROM ${sql.items({ id: 'text', time: 'text' })} WHERE api_key.id = item.id`,
)

export function createKeyStore({ read, write, brief, changeLoosely }: KeysDatabase): KeyStore {
  const changing = <T>(work: () => Work<T>): Promise<T> =>
    write(function* () {
      yield* all(CHANGE)
      return yield* work()
    })

  return {
    async version() {
      const [row] = await brief(() => read(SELECT_VERSION))
      return Number(row?.version)
    },
    async list() {
      return (await brief(() => read(SELECT_ALL))).map(keyOf)
    },
    put: (key) => changing(() => put(key)),
    update: (id, changeOf) =>
      changing(function* () {
        const row = yield* first(SELECT, { id })
        if (!row) return false
        for (const key of changeOf(keyOf(row))) yield* put(key)
        return true
      }),
    remove: (id) =>
      changing(function* () {
        return (yield* first(DELETE, { id })) !== undefined
      }),
    async markUsed(uses) {
      const items = [...uses].map(([id, time]) => ({ id, time }))
      if (items.length > 0) await changeLoosely(MARK_USED, {}, items)
    },
  }
}

function* put(key: ApiKey): Work<void> {
  const { scopes, categories, ...rest } = key
  yield* all(PUT, { ...rest, scopes: scopes.join(','), categories: categories?.join(',') })
}

function keyOf(row: Row): ApiKey {
  const scopes = String(row.scopes).split(',')
  return {
    id: String(row.id),
    digest: String(row.digest),
    tenant: String(row.tenant),
    scopes: SCOPES.filter((scope) => scopes.includes(scope)),
    ...(row.label !== null && { label: String(row.label) }),
    ...(row.categories !== null && { categories: String(row.categories).split(',') }),
    ...(row.rate_limit !== null && { rateLimit: Number(row.rate_limit) }),
    createdAt: String(row.created_at),
    ...(row.expires_at !== null && { expiresAt: String(row.expires_at) }),
    ...(row.last_used_at !== null && { lastUsedAt: String(row.last_used_at) }),
    ...(row.replaced_by !== null && { replacedBy: String(row.replaced_by) }),
  }
}
