import type { Hex } from '#document/hex.ts'
import type { RegistryAccount, RegistryRecord } from '#verifier/ports.ts'
import { SUSPENDED } from '#verifier/reasons.ts'
import { isDistrustedRevision, isReleased } from '#verifier/status.ts'
import type { FindingCode } from './findings.ts'

/**
 * @param record The slot of a document itself, or of a batch.
 * @returns What a distrusted account did to it last; `undefined` if the last account is trusted.
 */
export function distrustedRevision(
  record: RegistryRecord,
  accounts: ReadonlyMap<number, RegistryAccount>,
): 'released_by_distrusted' | 'revoked_by_distrusted' | undefined {
  if (!isDistrustedRevision(record, accounts.get(record.revokerIndex) ?? null)) return undefined
  return isReleased(record) ? 'released_by_distrusted' : 'revoked_by_distrusted'
}

/** @returns The subject of a finding. For a revocation, it tells whether that is a suspension. */
export function subjectOf(
  finding: FindingCode,
  hash: Hex,
  { reason }: Pick<RegistryRecord, 'reason'>,
): string {
  if (finding !== 'revoked_by_distrusted') return hash
  return `${hash}: ${reason === SUSPENDED ? 'suspended' : 'revoked'}`
}
