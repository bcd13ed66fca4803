import { isAhead, isOutdated, shownStatus } from './findings.ts'
import { identityOf } from './identity.ts'
import type { Done } from './state.ts'

/** Why a valid document does not get the look of a valid one. */
export type Doubt = 'asking' | 'denied' | 'notListed' | 'unconfirmed' | 'pdf' | 'future'

/** @returns The weightiest doubt; `undefined` for none, and for a document that is not valid. */
export function doubtOf(phase: Done): Doubt | undefined {
  if (shownStatus(phase) !== 'valid' || isOutdated(phase)) return undefined
  const { outcome, code } = identityOf(phase.verdict)
  if (outcome === 'fail') return code === 'account_not_listed' ? 'notListed' : 'denied'
  if (isToCompare(phase)) return 'pdf'
  if (phase.asking !== undefined) return 'asking'
  if (outcome !== 'pass') return 'unconfirmed'
  return isAhead(phase.verdict) ? 'future' : undefined
}

/**
 * @returns Whether the reader has to compare the document with a PDF, because the page cannot read
 * what is printed there.
 */
export function isToCompare(phase: Done): boolean {
  const { subject, verdict } = phase
  return subject.fromPdf === true && verdict.fields !== null && shownStatus(phase) === 'valid'
}
