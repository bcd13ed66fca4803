import type { Deadline } from '#base/deadline.ts'
import { createPace } from '#base/pace.ts'
import type { Document, DocumentFields } from '#document/document.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { ChainReader, Finality } from '#verifier/ports.ts'
import type { Batcher } from './batcher.ts'
import type { IsErased } from './erase.ts'
import { IssueError } from './errors.ts'
import type { History } from './history.ts'
import { type Intent, type IssueIntent, issueIntentOf } from './intent.ts'
import type { Outcome } from './outcome.ts'
import type { Persistence } from './persistence.ts'
import { createReadProgress, PENDING, type Progress } from './progress.ts'
import { createFindRepeat, type Repeat } from './repeat.ts'
import type { SealedDocument, Sealing } from './sealing.ts'

/** Documents to seal in one turn of the event loop: about 1 ms. */
const SEALED_A_TURN = 16

export type IssueRequest = {
  fields: DocumentFields
  /** The documentHash of the document that this one supersedes. */
  supersedes?: Hex
  /** The root of that document's batch, if it is in one. */
  supersededRoot?: Hex | undefined
  tenant: string
  idempotencyKey?: string
  /** Thrown when the request is not the repeat of one whose document is on the chain. */
  refuseNew?: IssueError
  /** Milliseconds to wait for a block; 0 = answer as soon as the promise is durable. */
  wait: number
  /** Limits the wait, and the reads before and after it. */
  deadline: Deadline
  /** The finality to wait for before the answer, within the same wait. */
  finality: Finality
}

/**
 * `pending`: it will be anchored, whatever happens to this process; `transactionHash` is that of
 * the newest attempt, if any.
 */
export type Issued = Progress & {
  publicId: string
  document: Document
  documentHash: Hex
  /** Whether it had been promised or anchored before this request. */
  replayed: boolean
}

export type Issuing = { issue(request: IssueRequest): Promise<Issued> }

/**
 * Issues documents. The order is the safety property: payload before chain, outbox before
 * broadcast, answer after the registry shows it.
 *
 * `issue` rejects with an `IssueError` when nothing was promised.
 */
export function createIssuing(deps: {
  /** CAIP-10. */
  registryId: RegistryId
  issuerId: number
  /** Reads the outcome of an intent. */
  outcomeOf: (intent: Intent) => Promise<Outcome>
  chain: ChainReader
  persistence: Persistence
  isErased: IsErased
  sealing: Sealing
  history: History
  batcher: Batcher
}): Issuing {
  const { registryId, issuerId, persistence, sealing, history, batcher } = deps
  const pace = createPace(SEALED_A_TURN)
  const readProgress = createReadProgress(deps)
  const findRepeat = createFindRepeat(deps)

  async function issue(request: IssueRequest): Promise<Issued> {
    const { tenant, supersedes, idempotencyKey, wait, deadline, finality } = request
    const until = performance.now() + wait
    const document = {
      ...{ ...request.fields, registry: registryId, issuerId },
      ...(supersedes !== undefined && { supersedes }),
    }
    await pace()
    batcher.assertOpen()
    const all = await sealing.seal(document, request)
    const { supersededRoot } = request
    const withIntent = (sealed: SealedDocument) => ({
      sealed: { ...sealed, entry: { ...sealed.entry, supersededRoot } },
      intent: issueIntentOf(document, sealed, tenant),
    })
    const mayBeRepeat = idempotencyKey !== undefined
    const repeat = mayBeRepeat ? await findRepeat(all.map(withIntent), deadline) : undefined
    if (repeat === undefined && request.refuseNew) throw request.refuseNew
    const { sealed, intent } = repeat ?? withIntent(all[0])
    const { replayed, isPending, transactionHash } = repeat
      ? await transactionOf(repeat)
      : await promise(intent, sealed, request)
    const progress = isPending
      ? { ...PENDING, transactionHash }
      : await readProgress(intent, transactionHash, { finality, mayBeRepeat, until, deadline })
    const { documentHash } = intent
    return { publicId: sealed.publicId, document, documentHash, replayed, ...progress }
  }

  /** Reads the transaction from this gateway's history, if no node has its event any more. */
  async function transactionOf({ intent, anchoring }: Repeat) {
    const { blockNumber } = anchoring
    const transactionHash =
      anchoring.transactionHash ?? (await history.transactionOf(intent.documentHash, blockNumber))
    return { replayed: true, isPending: false, transactionHash }
  }

  async function promise(
    intent: IssueIntent,
    sealed: SealedDocument,
    { wait, deadline }: IssueRequest,
  ) {
    const isNew = await persistence.add(intent, sealed, wait === 0)
    if (isNew === 'has_successor')
      throw new IssueError('already_superseded', 'the document has another successor')
    const answer = await batcher.submit(intent, Math.min(wait, deadline.left()))
    if (answer.status === 'moot') throw new TypeError('an issue is never moot')
    // The node may have been behind when it was read before: the transaction shows it.
    const wasBefore = answer.status === 'anchored' && answer.byAnother === true
    const { status, transactionHash } = answer
    return { replayed: !isNew || wasBefore, isPending: status === 'pending', transactionHash }
  }

  return { issue }
}
