import { formatActor } from '#promise/acts.ts'

/** The scopes of an API key. `admin` includes all. */
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

/** The permissions of the holder of a valid API key, or of a person who is signed in. */
export type Grant = {
  /** The id of the key or person, which is not a secret. */
  id: string
  /** The tenant whose documents and idempotency keys it shares. */
  tenant: string
  scopes: readonly Scope[]
  /** The only categories that it may issue and change; absent = all. */
  categories?: readonly string[]
  /** Requests per second; absent = the service's default. */
  rateLimit?: number
  /** The purpose of the key in the words of its creator, or the name of the person. */
  label?: string
  /** Whether it is a person who is signed in. */
  isPerson?: true
}

/** @returns The tenant and the actor of a request, for the history of documents. */
export function requesterOf({ id, label, isPerson, tenant }: Grant): {
  tenant: string
  actor: string
} {
  return {
    tenant,
    actor: formatActor({ kind: isPerson ? 'person' : 'key', id, label: label ?? null }),
  }
}

/** @returns The key or person to whom something belongs that they ask for, as it is stored. */
export const ownerOf = ({ id, isPerson }: Grant): string => `${isPerson ? 'person' : 'key'} ${id}`

/** @returns Whether a scope is among those of a grant, or included in them. */
export const hasScope = ({ scopes }: Grant, scope: Scope): boolean =>
  scopes.includes(scope) || scopes.includes('admin')

/**
 * @returns The tenant whose documents, batches, events and webhooks a key may use; `null` = all
 * tenants.
 */
export function tenantOf({ tenant, scopes }: Grant): string | null {
  return scopes.includes('admin') ? null : tenant
}

/**
 * @returns The owner of the share of places and turns that a key's requests use. Each `admin` key
 * has its own, so that it can revoke while other keys of its tenant are misused.
 */
export function shareOf({ id, tenant, scopes }: Grant): string {
  return scopes.includes('admin') ? `key ${id}` : `tenant ${tenant}`
}

/**
 * @returns The permissions of this key; `undefined` when it is unknown, revoked or expired.
 * @throws when the key is not known yet and the stored keys cannot be read.
 */
export type FindKey = (key: string) => Promise<Grant | undefined>
