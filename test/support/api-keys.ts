import type { ApiKey } from '#keys/ports.ts'

/** An API key with only the required settings. */
export const BARE: ApiKey = {
  id: 'bare',
  tenant: 'default',
  scopes: ['verify'],
  digest: 'ab'.repeat(32),
  createdAt: '2026-01-31T00:00:00.000Z',
}
/** An API key with every setting. */
export const FULL: ApiKey = {
  id: 'full',
  tenant: 'registry-office',
  scopes: ['documents:issue', 'documents:read'],
  categories: ['diploma', 'birth_certificate'],
  rateLimit: 7,
  label: "Front desk, 'quoted'",
  digest: 'cd'.repeat(32),
  createdAt: '2026-01-31T00:00:00.000Z',
  expiresAt: '2027-01-31T00:00:00.000Z',
  lastUsedAt: '2026-02-01T00:00:00.000Z',
  replacedBy: 'bare',
}
