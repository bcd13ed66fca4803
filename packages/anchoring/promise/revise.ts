import type { Deadline } from '#base/deadline.ts'
import type { Hex } from '#document/hex.ts'
import type { ChainReader, RegistryStatus } from '#verifier/ports.ts'
import { SUSPENDED } from '#verifier/reasons.ts'
import { isReleased } from '#verifier/status.ts'
import { EVENTS, type RevisionAction, reasonOf } from './action.ts'
import type { Outcome } from './anchoring.ts'
import { IssueError } from './errors.ts'
import type { Leader, Outbox, RegistryReader } from './ports.ts'
import { type RecordKey, revocationOf } from './record.ts'
import { isPromised, type Revisable, readRevisable } from './revisable.ts'
import { untilAnswered } from './until-answered.ts'

export type RevisionRequest = {
  action: RevisionAction
  /**
   * For a document in a batch, the expiry in its leaf, in seconds of the Unix epoch; absent =
   * unknown.
   */
  validUntil?: number
  /** Milliseconds to wait for a block; 0 = answer as soon as the promise is durable. */
  wait: number
  /** Limits the wait, and the reads before and after it. */
  deadline: Deadline
}

/**
 * `pending` = it will be done, whatever happens to this process. If there was nothing to do, the
 * fields describe the earlier revision.
 */
export type Revised = {
  status: RegistryStatus | 'pending'
  /** The RFC 5280 reason code. */
  reason: number
  /** Seconds of the Unix epoch; `null` while it is pending, or when the registry does not say. */
  revisedAt: number | null
  transactionHash: Hex | null
}

export type Revising = { revise(request: RevisionRequest): Promise<Revised> }

type RevisingDeps = {
  issuerId: number
  registry: RegistryReader
  chain: ChainReader
  outbox: Outbox
  leader: Leader
}

/**
 * Revokes, suspends and releases documents and batches, with the same outbox as issuing. A
 * suspension and a release of one document never overlap: a request waits until its opposite is on
 * the chain.
 *
 * `revise` rejects with an `IssueError`: `not_issued`, `already_revoked`, `not_suspended`,
 * `change_pending`, or the reason why nothing was promised; with a `ChainError` when the chain
 * could not be read.
 */
export function createRevising(deps: RevisingDeps): Revising {
  const { outbox, leader } = deps
  const registry = { transactionsOf: shareReads(deps.registry.transactionsOf) }

  return {
    async revise(request) {
      const { action, deadline, validUntil = 0 } = request
      const read = () =>
        deadline.within((signal) => readRevisable(deps, { ...action, validUntil }, signal))
      const before = await read()
      await assertIssued(outbox, before, action)
      if (await isDone(outbox, action, before)) return describe(registry, request, before)

      leader.assertOpen()
      const { revokedBlock } = before.record
      const { status } = await promise(deps, request, revokedBlock)
      // The revision is promised by now, so a failed read must not become an error.
      if (status === 'pending') return pending(outbox, action)
      const after = await read().catch(() => before)
      return shows(action, after) ? describe(registry, request, after) : pending(outbox, action)
    },
  }
}

async function assertIssued(
  outbox: Outbox,
  { isIssued }: Revisable,
  key: RecordKey,
): Promise<void> {
  if (!isIssued && !(await isPromised(outbox, key)))
    throw new IssueError('not_issued', 'no such document')
}

/** @throws {IssueError} when it cannot be done. */
async function isDone(
  outbox: Outbox,
  { kind, documentHash }: RevisionAction,
  { record }: Revisable,
): Promise<boolean> {
  /** Whether a change will be on the chain, or is in a block that this reading does not show. */
  const isAhead = async (other: RevisionAction['kind']) => {
    const outcome = (await outbox.find(other, documentHash))?.outcome
    if (outcome?.status !== 'anchored') return outcome !== undefined
    return outcome.blockNumber >= record.revokedBlock
  }
  const revocation = revocationOf(record)
  if (kind === 'revoke') return revocation === 'final'
  if (revocation === 'final')
    throw new IssueError('already_revoked', 'the document is permanently revoked')
  // A node that is behind, or a reorg, may hide a promised revision.
  if (kind === 'suspend') return revocation === 'suspended' && !(await isAhead('release'))
  if (revocation === 'suspended' || (await isAhead('suspend'))) return false
  if (revocation === 'none' && !(await isAhead('release')))
    throw new IssueError('not_suspended', 'the document is not suspended')
  return revocation === 'released'
}

/**
 * Adds the action to the outbox once its opposite is on the chain, and waits for it.
 *
 * @param changedBlock See {@link Outbox}.
 */
async function promise(
  { outbox, leader }: Pick<RevisingDeps, 'outbox' | 'leader'>,
  { action, wait, deadline }: RevisionRequest,
  changedBlock: number,
): Promise<Outcome> {
  const started = performance.now()
  const left = () => Math.min(wait - (performance.now() - started), deadline.left())
  while (!(await untilAnswered(deadline, () => outbox.add(action, { changedBlock })))) {
    const opposite = await outbox.find(
      action.kind === 'suspend' ? 'release' : 'suspend',
      action.documentHash,
    )
    // The opposite was anchored at this moment.
    if (opposite?.outcome.status !== 'pending') continue
    const waited = left() > 0 && (await leader.submit(opposite.action, left()))
    if (!waited || waited.status === 'pending')
      throw new IssueError('change_pending', 'the opposite change is under way')
  }
  return leader.submit(action, Math.max(0, left()))
}

/**
 * @returns Whether the chain shows that the revision was done, or that a final revocation came
 * first.
 */
function shows({ kind }: RevisionAction, { record }: Revisable): boolean {
  const revocation = revocationOf(record)
  if (revocation === 'final') return true
  if (kind === 'suspend') return revocation === 'suspended'
  return kind === 'release' && revocation !== 'suspended'
}

async function describe(
  registry: Pick<RegistryReader, 'transactionsOf'>,
  { action, deadline }: RevisionRequest,
  { record, status }: Revisable,
): Promise<Revised> {
  const revocation = revocationOf(record)
  // The release does not count, and the registry does not say when the suspension began.
  if (revocation === 'suspended' && isReleased(record))
    return { status, reason: SUSPENDED, revisedAt: null, transactionHash: null }
  const event = revocation === 'released' ? EVENTS.release : EVENTS.revoke
  const transactions = await deadline
    .within(() => registry.transactionsOf(event, record.revokedBlock))
    .catch(() => undefined)
  return {
    status,
    reason: record.reason,
    revisedAt: record.revokedAt,
    transactionHash: transactions?.get(action.documentHash)?.transactionHash ?? null,
  }
}

/** @returns The reason of the action in the outbox, because another request may have been first. */
async function pending(outbox: Outbox, action: RevisionAction): Promise<Revised> {
  const found = await outbox.find(action.kind, action.documentHash)
  const promised = found?.action ?? action
  return {
    status: 'pending',
    reason: reasonOf(promised.kind === 'issue' ? action : promised),
    revisedAt: null,
    transactionHash: found?.outcome.transactionHash ?? null,
  }
}

/**
 * Lets concurrent requests for the events of one block share one reading, because a transaction can
 * revoke two hundred documents.
 */
function shareReads(read: RegistryReader['transactionsOf']): RegistryReader['transactionsOf'] {
  const underWay = new Map<string, ReturnType<typeof read>>()
  return (event, blockNumber) => {
    const name = `${event} ${blockNumber}`
    const reading =
      underWay.get(name) ?? read(event, blockNumber).finally(() => underWay.delete(name))
    underWay.set(name, reading)
    return reading
  }
}
