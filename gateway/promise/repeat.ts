import type { Deadline } from '#base/deadline.ts'
import type { Anchoring } from './anchoring.ts'
import type { IsErased } from './erase.ts'
import { asIssueError, IssueError, refusalOf } from './errors.ts'
import type { Intent, IssueIntent } from './intent.ts'
import type { Outcome } from './outcome.ts'
import type { Persistence } from './persistence.ts'
import type { SealedDocument } from './sealing.ts'

/** A document that a request may refer to. */
export type Candidate = { intent: IssueIntent; sealed: SealedDocument }

/** A document that was anchored before the request for it. */
export type Repeat = Candidate & { anchoring: Anchoring }

/**
 * Looks for a repeated document on the chain, where this gateway or another one of the issuer may
 * have anchored it. From then on this store keeps its payload, even if it never had it or lost it.
 *
 * @returns The first candidate that is on the chain.
 * @throws {IssueError} when the chain could not be read, or shows that it can never be issued;
 * `erased` when it was erased here.
 */
export type FindRepeat = (
  candidates: readonly Candidate[],
  deadline: Deadline,
) => Promise<Repeat | undefined>

/** @param deps.outcomeOf Reads the outcome of an intent. */
export function createFindRepeat({
  outcomeOf,
  persistence,
  isErased,
}: {
  outcomeOf: (intent: Intent) => Promise<Outcome>
  persistence: Persistence
  isErased: IsErased
}): FindRepeat {
  return async (candidates, deadline) => {
    for (const { intent } of candidates)
      if (await isErased(intent.documentHash))
        throw new IssueError('erased', 'the document of this key has been erased')
    const outcomes = await deadline
      .within(() => Promise.all(candidates.map(({ intent }) => outcomeOf(intent))))
      .catch((error) => {
        throw asIssueError(error)
      })
    const index = outcomes.findIndex(({ status }) => status !== 'absent')
    const [outcome, candidate] = [outcomes[index], candidates[index]]
    if (outcome?.status === 'conflict' || outcome?.status === 'distrusted')
      throw refusalOf(outcome.status)
    if (outcome?.status !== 'anchored' || !candidate) return undefined
    const { intent, sealed } = candidate
    await persistence.restore(sealed)
    // When no node has the event any more, the block is final.
    if (outcome.transactionHash !== null) await persistence.adopt(intent, outcome, sealed)
    return { ...candidate, anchoring: outcome }
  }
}
