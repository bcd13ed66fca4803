import { setTimeout as sleep } from 'node:timers/promises'
import { clock } from '#base/clock.ts'
import { limitPerTurn } from '#base/concurrency.ts'
import type { Deadline } from '#base/deadline.ts'
import type { Document, DocumentFields } from '#document/document.ts'
import { type Hex, toHex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import {
  type ChainReader,
  type DocumentKey,
  FINALITIES,
  type Finality,
  type RegistryStatus,
} from '#verifier/ports.ts'
import { type Action, type IssueAction, issueActionOf } from './action.ts'
import type { Anchoring, Outcome } from './anchoring.ts'
import type { IsErased } from './erase.ts'
import { asIssueError, IssueError, refusalOf } from './errors.ts'
import type { History } from './history.ts'
import type { Guarding, Leader, Outbox, PayloadStore } from './ports.ts'
import type { SealedDocument, Sealing } from './sealing.ts'
import { untilAnswered } from './until-answered.ts'

/** The documents to seal in one turn of the event loop, which take about 1 ms. */
const SEALED_A_TURN = 16
/** How long to wait between reads of a block's finality. */
const FINALITY_POLL_INTERVAL_MS = 250

export type IssueRequest = {
  fields: DocumentFields
  /** The documentHash of the document that this one supersedes. */
  supersedes?: Hex
  /** The root of that document's batch, if it is in one. */
  supersededRoot?: Hex | undefined
  tenant: string
  /** Who issues it; see `formatActor`. */
  actor?: string
  idempotencyKey?: string
  /** Thrown unless the request repeats one whose document is on the chain. */
  refuseNew?: Error
  /** Milliseconds to wait for a block; 0 = answer as soon as the promise is durable. */
  wait: number
  /** Limits the wait, and the reads before and after it. */
  deadline: Deadline
  /** The finality to wait for before the answer, within the same wait. */
  finality: Finality
}

/** The status of a document to issue. */
type DocumentStatus = {
  status: RegistryStatus | 'pending'
  transactionHash: Hex | null
  /** `null` while it is pending, or when it could not be read. */
  finality: Finality | null
}

/**
 * `pending` = it will be anchored, whatever happens to this process; `transactionHash` is then that
 * of the newest attempt, if any.
 */
export type IssuedDocument = DocumentStatus & {
  publicId: string
  document: Document
  documentHash: Hex
  /** Whether the document had been promised or anchored before this request. */
  replayed: boolean
}

export type Issuing = { issue(request: IssueRequest): Promise<IssuedDocument> }

type IssuingDeps = {
  /** The CAIP-10 account ID of the registry. */
  registryId: RegistryId
  issuerId: number
  /** Reads the outcome of an action. */
  outcomeOf: (action: Action) => Promise<Outcome>
  chain: ChainReader
  /** The payloads in the database. */
  payloads: PayloadStore
  isErased: IsErased
  sealing: Sealing
  history: History
  outbox: Pick<Outbox, 'add' | 'find'> & Guarding
  leader: Leader
}

/**
 * Issues documents. The order keeps this safe: payload and record are written before the broadcast,
 * and the answer comes after the registry shows the document.
 *
 * `issue` rejects with an `IssueError` when nothing was promised, or with `outcome_unknown`.
 */
export function createIssuing(deps: IssuingDeps): Issuing {
  const { registryId, issuerId, outbox, sealing, history, leader } = deps
  const turn = limitPerTurn(SEALED_A_TURN)

  async function issue(request: IssueRequest): Promise<IssuedDocument> {
    const { supersedes, idempotencyKey, wait, deadline, finality } = request
    const until = performance.now() + wait
    const document = {
      ...request.fields,
      registry: registryId,
      issuerId,
      ...(supersedes !== undefined && { supersedes }),
    }
    await turn()
    leader.assertOpen()
    const candidates = await sealing.seal(document, request)
    const { supersededRoot } = request
    const withAction = (sealed: SealedDocument) => ({
      sealed: { ...sealed, entry: { ...sealed.entry, supersededRoot } },
      action: issueActionOf(document, sealed, request),
    })
    const repeat =
      idempotencyKey === undefined
        ? undefined
        : await findRepeat(deps, candidates.map(withAction), deadline)
    if (repeat === undefined && request.refuseNew) throw request.refuseNew
    if (repeat === undefined) await assertMayIssue(candidates[0], idempotencyKey)
    const { sealed, action } = repeat ?? withAction(candidates[0])
    const { replayed, isPending, transactionHash } = repeat
      ? await transactionOf(repeat)
      : await promise(action, sealed, request)
    const status = isPending
      ? { ...PENDING, transactionHash }
      : await readStatus(deps, action, transactionHash, {
          finality,
          isRepeat: replayed,
          until,
          deadline,
        })
    const { documentHash } = action
    return { publicId: sealed.publicId, document, documentHash, replayed, ...status }
  }

  /** What was accepted before the issuer was closed is still `pending`. */
  async function assertMayIssue({ documentHash }: SealedDocument, idempotencyKey?: string) {
    try {
      leader.assertMayIssue()
    } catch (error) {
      const isAccepted =
        idempotencyKey !== undefined && (await outbox.find('issue', toHex(documentHash)))
      if (!isAccepted) throw error
    }
  }

  /** Reads the transaction from this gateway's history if no node still has its event. */
  async function transactionOf({ action, anchoring }: Candidate & { anchoring: Anchoring }) {
    const { blockNumber } = anchoring
    const transactionHash =
      anchoring.transactionHash ?? (await history.transactionOf(action.documentHash, blockNumber))
    return { replayed: true, isPending: false, transactionHash }
  }

  async function promise(
    action: IssueAction,
    sealed: SealedDocument,
    { idempotencyKey, wait, deadline }: IssueRequest,
  ) {
    const isNew = await untilAnswered(deadline, () => outbox.add(action, { payload: sealed }))
    if (isNew === 'has_successor')
      throw new IssueError('already_superseded', 'the document already has another successor')
    if (isNew === 'key_reused')
      throw new IssueError(
        'idempotency_key_reused',
        'the Idempotency-Key was used for another document',
      )
    const outcome = await leader.submit(action, Math.min(wait, deadline.left()), isNew)
    if (!('transactionHash' in outcome)) throw new TypeError(`an issue is never ${outcome.status}`)
    // If the node was behind when it was read before, the transaction shows it.
    const wasBefore = outcome.status === 'anchored' && outcome.byAnother === true
    const { status, transactionHash } = outcome
    // Without a key there is no repeat but our own, of a write whose answer was lost.
    const replayed = idempotencyKey !== undefined && (!isNew || wasBefore)
    return { replayed, isPending: status === 'pending', transactionHash }
  }

  return { issue }
}

/** A document that a request may refer to. */
type Candidate = { action: IssueAction; sealed: SealedDocument }

/**
 * Looks for a repeated document on the chain, where this gateway or another one of the issuer may
 * have anchored it. From then on this store keeps its payload, even if it never had it or lost it.
 *
 * @returns The first candidate that is on the chain.
 * @throws {IssueError} when the chain could not be read, or shows that the document can never be
 * issued; `erased` when it was erased here.
 */
async function findRepeat(
  { outcomeOf, payloads, outbox, isErased }: IssuingDeps,
  candidates: readonly Candidate[],
  deadline: Deadline,
): Promise<(Candidate & { anchoring: Anchoring }) | undefined> {
  for (const { action } of candidates)
    if (await isErased(action.documentHash))
      throw new IssueError('erased', 'the document with this Idempotency-Key has been erased')
  const outcomes = await deadline
    .within(() => Promise.all(candidates.map(({ action }) => outcomeOf(action))))
    .catch((error) => {
      throw asIssueError(error)
    })
  const index = outcomes.findIndex(({ status }) => status !== 'absent')
  const [outcome, candidate] = [outcomes[index], candidates[index]]
  const refusal = outcome && refusalOf(outcome)
  if (refusal) throw refusal
  if (outcome?.status !== 'anchored' || !candidate) return undefined
  const { action, sealed } = candidate
  const { documentHash, bytes } = sealed
  if ((await payloads.get(documentHash)).status === 'missing')
    await payloads.put(documentHash, bytes)
  // If no node still has the event, the block is final.
  if (outcome.transactionHash !== null) await outbox.guard(action, outcome, sealed)
  return { ...candidate, anchoring: outcome }
}

/** The status to wait for, and the time to wait. */
type StatusRequest = {
  /** The finality to wait for. */
  finality: Finality
  /** Whether the document was promised or anchored before this request, and so may be revoked. */
  isRepeat: boolean
  /** When the wait is over; `performance.now()`. */
  until: number
  deadline: Deadline
}

/** A reading of the chain, without the transaction if that was not read. */
type Reading = Pick<DocumentStatus, 'status' | 'finality'> & { transactionHash?: Hex }

/** The status of a document that will be anchored in a block that is not known yet. */
const PENDING = { status: 'pending', finality: null } as const

/**
 * Reports the status of an anchored document. A new one is valid until it expires. A repeated one
 * may since have been revoked, and one that must be final may be dropped by a reorg. For these, the
 * chain is read until they are as final as requested, or the time is up.
 *
 * @param transactionHash The transaction that anchored it.
 */
async function readStatus(
  { issuerId, chain }: Pick<IssuingDeps, 'issuerId' | 'chain'>,
  { documentHash, validUntil }: IssueAction,
  transactionHash: Hex | null,
  { finality, isRepeat, until, deadline }: StatusRequest,
): Promise<DocumentStatus> {
  if (!isRepeat && finality === 'included') {
    const isExpired = validUntil !== 0 && clock.wall() / 1000 >= validUntil
    return { status: isExpired ? 'expired' : 'valid', transactionHash, finality }
  }
  const key = { issuerId, documentHash }
  let now: Reading = PENDING
  while (true) {
    now = await read(chain, key, finality, deadline).catch(() => now)
    const isLate = performance.now() >= until || deadline.left() === 0
    if (isLate || reaches(now.finality, finality)) return { transactionHash, ...now }
    await sleep(Math.min(FINALITY_POLL_INTERVAL_MS, deadline.left()))
  }
}

/**
 * A missing record was dropped by a reorg, or has not reached this node yet, so its finality is
 * unknown.
 */
async function read(
  chain: ChainReader,
  key: DocumentKey,
  wanted: Finality,
  { within }: Deadline,
): Promise<Reading> {
  const { status, record } = await within((signal) => chain.read(key, { signal }))
  const { anchoredBlock } = record
  if (anchoredBlock === 0) return PENDING
  if (wanted === 'included') return { status, finality: wanted }
  const [finality, event] = await Promise.all([
    within((signal) => chain.finalityOf(anchoredBlock, { signal })).catch(() => null),
    // After a reorg, another transaction may have anchored it.
    within((signal) => chain.issuedEvent(key, anchoredBlock, { signal })).catch(() => undefined),
  ])
  return { status, finality, ...(event && { transactionHash: event.transactionHash }) }
}

function reaches(finality: Finality | null, wanted: Finality): boolean {
  return finality !== null && FINALITIES.indexOf(finality) >= FINALITIES.indexOf(wanted)
}
