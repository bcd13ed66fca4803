import type { ApiKey, KeyStore } from '#keys/ports.ts'
import type { Postgres } from '../drivers/postgres/database.ts'
import type { Query } from '../drivers/postgres/query.ts'
import { keyOfRow } from '../rows.ts'

/** API keys in PostgreSQL. */
export function createPostgresKeyStore({ query, transaction, brief }: Postgres): KeyStore {
  const change = <T>(work: (within: Query) => Promise<T>): Promise<T> =>
    transaction(async (within) => {
      // First: changes come one after another.
      await within('UPDATE key_change SET version = version + 1')
      return work(within)
    })

  return {
    async version() {
      const [row] = await brief(() => query('SELECT version FROM key_change'))
      return Number(row?.version)
    },
    async list() {
      const rows = await brief(() => query('SELECT * FROM api_key ORDER BY position'))
      return rows.map(keyOfRow)
    },
    put: (key) => change((within) => put(within, key)),
    update: (id, changeOf) =>
      change(async (within) => {
        const [row] = await within('SELECT * FROM api_key WHERE id = $1', [id])
        if (!row) return false
        for (const key of changeOf(keyOfRow(row))) await put(within, key)
        return true
      }),
    remove: (id) =>
      change(async (within) => {
        const removed = await within('DELETE FROM api_key WHERE id = $1 RETURNING 1', [id])
        return removed.length > 0
      }),
    async markUsed(uses) {
      await query(
        `UPDATE api_key SET last_used_at = greatest(last_used_at, item.time)
         FROM unnest($1::text[], $2::text[]) AS item (id, time) WHERE api_key.id = item.id`,
        [[...uses.keys()], [...uses.values()]],
      )
    },
  }
}

async function put(query: Query, key: ApiKey): Promise<void> {
  await query(
    `INSERT INTO api_key (id, digest, tenant, scopes, label, categories, rate_limit, created_at,
       expires_at, last_used_at, replaced_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     ON CONFLICT (id) DO UPDATE SET digest = excluded.digest, tenant = excluded.tenant,
       scopes = excluded.scopes, label = excluded.label, categories = excluded.categories,
       rate_limit = excluded.rate_limit, created_at = excluded.created_at,
       expires_at = excluded.expires_at, last_used_at = excluded.last_used_at,
       replaced_by = excluded.replaced_by`,
    [
      ...[key.id, key.digest, key.tenant, key.scopes.join(','), key.label],
      ...[key.categories?.join(','), key.rateLimit, key.createdAt, key.expiresAt],
      ...[key.lastUsedAt, key.replacedBy],
    ],
  )
}
