import { UsageError } from '../errors.ts'

/** Permissions of an account as operators write them, such as `issue,revoke`. */
const BITS = { issue: 1, revoke: 2, manage: 4, delegate: 8 } as const

/** @throws for an unknown name, a duplicate name, or none. */
export function parsePermissions(text: string): number {
  let permissions = 0
  for (const name of text.split(',')) {
    const bit = Object.entries(BITS).find(([known]) => known === name)?.[1]
    if (bit === undefined || (permissions & bit) !== 0)
      throw new UsageError(
        `${JSON.stringify(text)} is not a list of permissions (${Object.keys(BITS).join(', ')}) such as issue,revoke`,
      )
    permissions |= bit
  }
  return permissions
}

export function formatPermissions(permissions: bigint): string {
  return Object.entries(BITS)
    .filter(([, bit]) => (permissions & BigInt(bit)) !== 0n)
    .map(([name]) => name)
    .join(',')
}
