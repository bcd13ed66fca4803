import type { Hex } from '#document/hex.ts'
import type { RegistryAccount, RegistryRecord } from '#verifier/ports.ts'
import { SUSPENDED } from '#verifier/reasons.ts'
import { isDistrustedRevision, isReleased } from '#verifier/status.ts'
import type { FindingCode } from './findings.ts'

/**
 * @param record Of a document's own slot, or of a batch.
 * @returns What a distrusted account did to it last; `undefined` if that was a trusted one.
 */
export function distrustedRevision(
  record: RegistryRecord,
  accounts: ReadonlyMap<number, RegistryAccount>,
): 'released_by_distrusted' | 'revoked_by_distrusted' | undefined {
  if (!isDistrustedRevision(record, accounts.get(record.revokerIndex) ?? null)) return undefined
  return isReleased(record) ? 'released_by_distrusted' : 'revoked_by_distrusted'
}

/** @returns What a finding is about; of a revocation, whether it is one or a suspension. */
export function subjectOf(
  finding: FindingCode,
  hash: Hex,
  { reason }: Pick<RegistryRecord, 'reason'>,
): string {
  if (finding !== 'revoked_by_distrusted') return hash
  return `${hash}: ${reason === SUSPENDED ? 'suspended' : 'revoked'}`
}
