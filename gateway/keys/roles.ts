import type { Scope } from './grant.ts'

const READER = ['documents:read', 'verify'] as const
const CLERK = [...READER, 'documents:issue'] as const

/** The scopes of each role. */
export const SCOPES_OF = {
  reader: READER,
  clerk: CLERK,
  registrar: [...CLERK, 'documents:revoke', 'documents:erase'],
  administrator: ['admin'],
} as const satisfies Record<string, readonly Scope[]>

export type Role = keyof typeof SCOPES_OF
export const ROLES = Object.keys(SCOPES_OF) as [Role, ...Role[]]
