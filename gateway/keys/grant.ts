/** What an API key may do. `admin` may do all. */
export const SCOPES = [
  'documents:issue',
  'documents:read',
  'documents:revoke',
  'documents:erase',
  'webhooks',
  'verify',
  'admin',
] as const
export type Scope = (typeof SCOPES)[number]

/** What the holder of a valid API key may do. */
export type Grant = {
  /** The key's id, which is not a secret. */
  id: string
  /** Whose documents and idempotency keys it shares. */
  tenant: string
  scopes: readonly Scope[]
  /** The only categories that it may issue and change; absent = all. */
  categories?: readonly string[]
  /** Requests per second; absent = the service's default. */
  rateLimit?: number
}

/** @returns Whose documents, batches, events and webhooks a key may name; `null` = of all. */
export function tenantOf({ tenant, scopes }: Grant): string | null {
  return scopes.includes('admin') ? null : tenant
}

/**
 * @returns Whose share of places and turns a key's requests take. Each `admin` key has its own, so
 *   that it can revoke while other keys of its tenant are misused.
 */
export function shareOf({ id, tenant, scopes }: Grant): string {
  return scopes.includes('admin') ? `key ${id}` : `tenant ${tenant}`
}

/**
 * @returns What this key may do; `undefined` when it is unknown, revoked or expired.
 * @throws when the key is unknown so far and the stored keys cannot be read.
 */
export type FindKey = (key: string) => Promise<Grant | undefined>
