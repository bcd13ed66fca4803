import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import type { ChainReader } from '#verifier/ports.ts'
import { SUPERSEDED } from '#verifier/reasons.ts'
import { IssueError } from './errors.ts'
import type { IssuedDocument, IssueRequest, Issuing } from './issue.ts'
import type { Outbox, Readiness, RegistryReader } from './ports.ts'
import { revocationOf } from './record.ts'
import { isPromised, readRevisable } from './revisable.ts'
import type { Revised, Revising } from './revise.ts'
import { untilAnswered } from './until-answered.ts'

/**
 * The superseded documents of this gateway and their successors. The promise to revoke a superseded
 * document is made when its successor is on the chain, in the transaction that writes that outcome.
 * So it survives a kill, and no document is revoked without a successor.
 */
export type Successions = {
  /** @returns The documentHash of the successor, also while that is pending. */
  successorOf(documentHash: Hex): Promise<Hex | undefined>
}

export type SupersedeRequest = Omit<IssueRequest, 'finality' | 'supersedes' | 'supersededRoot'> & {
  /** The document to supersede. */
  documentHash: Hex
  /** If the document is in a batch, the root of the batch, and the expiry in its leaf. */
  root?: Hex
  validUntil?: number
}

export type Superseded = {
  successor: IssuedDocument
  /** The revocation of the superseded document; `null` until the successor is on the chain. */
  revised: Revised | null
}

export type Superseding = {
  /**
   * Issues the successor of a document, and revokes the document once the successor is on the
   * chain.
   *
   * Rejects with an `IssueError` when neither was promised: beside those of issuing, `not_issued`,
   * `already_revoked`, `already_superseded`; with a `ChainError` when the chain could not be read.
   */
  supersede(request: SupersedeRequest): Promise<Superseded>
}

type SupersedingDeps = {
  issuerId: number
  chain: ChainReader
  registry: RegistryReader
  issuing: Issuing
  revising: Revising
  outbox: Outbox
  successions: Successions
  readiness: () => Promise<Pick<Readiness, 'mayRevoke'>>
  log: Log
}

export function createSuperseding(deps: SupersedingDeps): Superseding {
  const { issuing, revising, outbox, log } = deps
  const assertMaySupersede = createAssertMaySupersede(deps)

  /** The successor is on the chain, so whatever fails from here on must not become an error. */
  async function revoke(
    { documentHash, root, validUntil = 0, tenant, deadline }: SupersedeRequest,
    wait: number,
  ): Promise<Revised> {
    const key = { documentHash, ...(root && { root }) }
    const action = { kind: 'revoke', ...key, reason: SUPERSEDED, tenant } as const
    try {
      return await revising.revise({ action, validUntil, wait, deadline })
    } catch (error) {
      // A repeat may have found a successor that another gateway issued.
      await untilAnswered(deadline, () => outbox.add(action))
      log.warn('supersede_goes_on', { error: String(error) })
      return { status: 'pending', reason: SUPERSEDED, revisedAt: null, transactionHash: null }
    }
  }

  return {
    async supersede(request) {
      const until = performance.now() + request.wait
      const refuseNew = (await assertMaySupersede(request)) ?? request.refuseNew
      const { documentHash, root, validUntil: _, ...issue } = request
      const successor = await issuing.issue({
        ...issue,
        finality: 'included',
        supersedes: documentHash,
        supersededRoot: root,
        ...(refuseNew && { refuseNew }),
      })
      if (successor.status === 'pending') return { successor, revised: null }
      const left = Math.min(until - performance.now(), request.deadline.left())
      return { successor, revised: await revoke(request, Math.max(0, left)) }
    },
  }
}

/**
 * @returns A function that rejects when the document cannot be superseded, or no longer can be. It
 * returns an error if only the repeat of a request that another gateway has carried out can
 * succeed.
 */
function createAssertMaySupersede(
  deps: SupersedingDeps,
): (request: SupersedeRequest) => Promise<IssueError | undefined> {
  const { outbox, successions, readiness } = deps

  /** Without the permission REVOKE, the promise to revoke could not be kept. */
  async function assertMayRevoke(): Promise<void> {
    const { mayRevoke } = await readiness()
    if (!mayRevoke)
      throw new IssueError('registry_refused', 'the account lacks the permission REVOKE')
  }

  return async ({ documentHash, root, validUntil = 0, deadline, idempotencyKey }) => {
    await assertMayRevoke()
    const key = { documentHash, ...(root && { root }) }
    const now = await deadline.within((signal) =>
      readRevisable(deps, { ...key, validUntil }, signal),
    )
    if (!now.isIssued && !(await isPromised(outbox, key)))
      throw new IssueError('not_issued', 'no such document')
    const successor = await successions.successorOf(documentHash)
    // Only a repeat can name the existing successor. If this is not a repeat, issuing finds out.
    if (successor !== undefined && idempotencyKey === undefined)
      throw new IssueError('already_superseded', 'the document already has a successor')
    // The status of a document in a batch also depends on that of the batch.
    const isRevoked = now.status === 'revoked' || now.status === 'superseded'
    if (successor !== undefined || !(isRevoked || revocationOf(now.record) === 'final'))
      return undefined
    const error = new IssueError('already_revoked', 'the document is permanently revoked')
    if (now.status === 'superseded' && idempotencyKey !== undefined) return error
    throw error
  }
}
