import type { Hex } from '../../document/hex.ts'
import type { ChainReader, ChainReading } from '../../verifier/ports.ts'
import type { Deadline } from '../deadline.ts'
import type { Batcher } from './batcher.ts'
import { IssueError } from './errors.ts'
import { outcomesOf } from './outcome.ts'
import type { Outbox, Registry } from './ports.ts'

export type RevokeRequest = {
  issuerId: number
  documentHash: Hex
  /** RFC 5280 reason code. */
  reason: number
  /** Milliseconds to wait for a block; 0 = answer as soon as the promise is durable. */
  wait: number
  /** Ends the wait too, and what is read before and after it. */
  deadline: Deadline
}

/** `pending`: it will be revoked, whatever happens to this process. Of a document revoked before, all is as it was then. */
export type Revoked = {
  status: 'revoked' | 'superseded' | 'pending'
  /** RFC 5280 reason code. */
  reason: number
  /** Seconds of the Unix epoch. */
  revokedAt: number | null
  transactionHash: Hex | null
}

export type Revoking = { revoke(request: RevokeRequest): Promise<Revoked> }

/**
 * Revokes documents, through the same outbox as issuing.
 *
 * `revoke` rejects with an `IssueError`: `not_issued`, also for another issuer's document, or why nothing was promised; with a `ChainError` when
 * the chain could not be read.
 */
export function createRevoking(deps: {
  registry: Registry
  chain: ChainReader
  outbox: Outbox
  batcher: Batcher
}): Revoking {
  const { registry, chain, outbox, batcher } = deps

  async function revoke(request: RevokeRequest): Promise<Revoked> {
    const { issuerId, documentHash, reason, wait, deadline } = request
    if (issuerId !== registry.issuerId) throw notIssued()
    const read = () =>
      deadline.within((signal) => chain.read(documentHash, { signal }))
    const before = await read()
    assertOurs(before, documentHash)
    if (isRevoked(before)) return describe(request, before)

    batcher.assertOpen()
    const intent = { kind: 'revoke', documentHash, reason } as const
    await outbox.add(intent)
    const { status } = await batcher.submit(
      intent,
      Math.min(wait, deadline.left()),
    )
    // From here on it is promised: what cannot be read now is left out, and no error.
    if (status === 'pending') return pending(request)
    const after = await read().catch(() => before)
    return isRevoked(after) ? describe(request, after) : pending(request)
  }

  function assertOurs({ record }: ChainReading, documentHash: Hex): void {
    if (record.issuerId === registry.issuerId) return
    const promised = outbox.find('issue', documentHash) !== undefined
    if (record.issuerId !== 0 || !promised) throw notIssued()
  }

  function isRevoked({ record }: ChainReading): boolean {
    return record.revokedBlock !== 0
  }

  async function describe(
    { documentHash, deadline }: RevokeRequest,
    { record, status }: ChainReading,
  ): Promise<Revoked> {
    const { reason, revokedAt } = record
    const intent = { kind: 'revoke', documentHash, reason } as const
    const [outcome] = await deadline
      .within(() => outcomesOf(registry, [intent]))
      .catch(() => [])
    return {
      status: status === 'superseded' ? 'superseded' : 'revoked',
      reason,
      revokedAt,
      transactionHash:
        outcome?.status === 'anchored' ? outcome.transactionHash : null,
    }
  }

  /** The reason is that of the intent in the outbox: another request may have been first with it. */
  function pending({ documentHash, reason }: RevokeRequest): Revoked {
    const standing = outbox.find('revoke', documentHash)
    const { intent } = standing ?? {}
    return {
      status: 'pending',
      reason: intent?.kind === 'revoke' ? intent.reason : reason,
      revokedAt: null,
      transactionHash: standing?.transactionHash ?? null,
    }
  }

  return { revoke }
}

function notIssued(): IssueError {
  return new IssueError('not_issued', 'no such document')
}
