import type { Grant } from '../grant.ts'

/** @returns Whose documents and batches a key may name by a hash; `null` = of all tenants. */
export function tenantOf({ tenant, scopes }: Grant): string | null {
  return scopes.includes('admin') ? null : tenant
}
