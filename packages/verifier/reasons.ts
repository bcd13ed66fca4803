/**
 * The RFC 5280 §5.3.1 reason codes of final revocations with their names. 6 suspends, 8 releases, 7
 * is not used.
 */
export const REVOCATION_REASONS = {
  unspecified: 0,
  keyCompromise: 1,
  cACompromise: 2,
  affiliationChanged: 3,
  superseded: 4,
  cessationOfOperation: 5,
  privilegeWithdrawn: 9,
  aACompromise: 10,
} as const
export type RevocationReason = keyof typeof REVOCATION_REASONS

export const REASON_NAMES = Object.keys(REVOCATION_REASONS) as RevocationReason[]

/** Reason codes with a special meaning in the registry. */
export const SUPERSEDED = 4
export const SUSPENDED = 6
export const RELEASED = 8

/** @returns The name of a reason code; the number as text if RFC 5280 does not define it. */
export function reasonName(code: number): string {
  if (code === SUSPENDED) return 'certificateHold'
  if (code === RELEASED) return 'removeFromCRL'
  const found = Object.entries(REVOCATION_REASONS).find(([, c]) => c === code)
  return found?.[0] ?? String(code)
}
