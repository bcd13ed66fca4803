import { SCOPES } from '#keys/grant.ts'
import type { ApiKey } from '#keys/ports.ts'

/** @param row Of the table `api_key`, whose columns are the same in SQLite and PostgreSQL. */
export function keyOfRow(row: Record<string, unknown>): ApiKey {
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
