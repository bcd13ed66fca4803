/** What an API key may do. `admin` may do all. */
export const SCOPES = [
  'documents:issue',
  'documents:read',
  'documents:revoke',
  'verify',
  'admin',
] as const
export type Scope = (typeof SCOPES)[number]

/** A good API key. */
export type Grant = {
  id: string
  /** Whose documents and idempotency keys it shares. */
  tenant: string
  scopes: Scope[]
}

/** @returns What this key may do; `undefined` when it is unknown, withdrawn or expired. */
export type FindKey = (key: string) => Grant | undefined
