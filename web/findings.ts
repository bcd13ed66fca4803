import type { DocumentPart } from '../document/document.ts'
import type { Judgement, VerdictStatus } from '../verifier/verdict.ts'

/** A verdict on a document or on an excerpt of one. */
export type PageVerdict = Judgement & {
  /** Of an excerpt, those that its holder shows; `null` when they could not be read. */
  fields: DocumentPart | null
}

/** What came of a check. */
export type Findings = {
  /** The page's headline. */
  verdict: PageVerdict
  /** Whether that is the nodes' answer of now; else it is the proof file's, as of its block. */
  live: boolean
  /** The statement of the proof file, if there is one. */
  statement?: PageVerdict
  /** Of a verdict that is not live: what came of asking the nodes; absent when there are none. */
  attempt?: PageVerdict
}

/**
 * Checks that a node that is behind cannot report too early; only a theft lets an issuer undo them.
 */
const FINAL_CHECKS = ['supersession', 'revocation', 'issuer']
/**
 * Statuses that the next block may change for the better or worse; the others change only after a
 * theft.
 */
const CHANGEABLE: VerdictStatus[] = ['valid', 'suspended', 'not_issued']

/**
 * Puts the nodes' answer first whenever there is one: a proof file never hides what came after its
 * block.
 *
 * @param attempt What came of asking the nodes; `undefined` when there are none.
 */
export function weigh(statement: PageVerdict, attempt: PageVerdict | undefined): Findings {
  if (attempt && isAnswer(attempt)) return { verdict: attempt, live: true, statement }
  return {
    verdict: statement,
    live: false,
    statement,
    ...(attempt && { attempt }),
  }
}

function isAnswer({ checks }: PageVerdict): boolean {
  return checks.some(({ check, outcome }) =>
    check === 'chain' ? outcome === 'pass' : outcome === 'fail' && FINAL_CHECKS.includes(check),
  )
}

/**
 * @param now Seconds of the Unix epoch.
 * @returns The status to show. A proof file does not know that its document has expired since; the
 *   reader's clock does.
 */
export function shownStatus(
  { verdict: { status, blockchainProof }, live }: Findings,
  now = Date.now() / 1000,
): VerdictStatus {
  const validUntil = blockchainProof?.validUntil ?? Number.POSITIVE_INFINITY
  return !live && status === 'valid' && now >= validUntil ? 'expired' : status
}

/** @returns Whether the status was true at some block, and may have changed since. */
export function isOutdated(findings: Findings): boolean {
  return !findings.live && CHANGEABLE.includes(shownStatus(findings))
}
