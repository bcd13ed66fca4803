import type { DocumentPart } from '#document/document.ts'
import type { BlockchainProof, Judgement, VerdictStatus } from '#verifier/verdict.ts'

/** A verdict on a document or on an excerpt of one. */
export type PageVerdict = Judgement & {
  /** The fields that the holder of an excerpt shows; `null` when they could not be read. */
  fields: DocumentPart | null
}

/** The result of a check. */
export type Findings = {
  /** The page's headline. */
  verdict: PageVerdict
  /** True for the nodes' current answer; false for the proof file's, as of its block. */
  live: boolean
  /** The statement of the proof file, if there is one. */
  statement?: PageVerdict
  /** For a verdict that is not live: the result from the nodes; absent when there are none. */
  attempt?: PageVerdict
}

/**
 * Checks for statuses that a lagging node cannot show too early, and that an issuer can undo only
 * after a theft.
 */
const FINAL_CHECKS = ['supersession', 'revocation', 'issuer']
/**
 * Statuses that the next block may change for better or worse. The others change only after a
 * theft.
 */
const CHANGEABLE: VerdictStatus[] = ['valid', 'suspended', 'not_issued']

/**
 * Prefers the nodes' answer whenever there is one, so that a proof file cannot hide what happened
 * after its block.
 *
 * @param attempt The result from the nodes; `undefined` when there are none.
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
 * @returns The status to show. The reader's clock decides whether the document has expired since
 * the proof file's block.
 */
export function shownStatus(
  { verdict: { status, blockchainProof }, live }: Findings,
  now = Date.now() / 1000,
): VerdictStatus {
  const validUntil = blockchainProof?.validUntil ?? Number.POSITIVE_INFINITY
  return !live && status === 'valid' && now >= validUntil ? 'expired' : status
}

/** @returns Whether the status held at an earlier block and may have changed since. */
export function isOutdated(findings: Findings): boolean {
  return !findings.live && CHANGEABLE.includes(shownStatus(findings))
}

/** @returns Whether the document is dated in the future. */
export function isAhead({ checks }: PageVerdict): boolean {
  return checks.some(({ check, outcome }) => check === 'dating' && outcome === 'fail')
}

/** @returns A name for a document of one issuer. Only its own issuer can replace a document. */
export function keyOf(
  { registry, issuer }: BlockchainProof,
  documentHash: BlockchainProof['documentHash'],
): string {
  return `${registry} ${issuer.id} ${documentHash}`
}
