import { setTimeout as sleep } from 'node:timers/promises'
import { type Document, type DocumentFields, validUntilOf } from '../../document/document.ts'
import { type Hex, toHex } from '../../document/hex.ts'
import type { RegistryId } from '../../document/registry-id.ts'
import type { Sealed } from '../../document/sealed.ts'
import {
  type ChainReader,
  FINALITIES,
  type Finality,
  type RegistryStatus,
} from '../../verifier/ports.ts'
import type { Deadline } from '../deadline.ts'
import type { History } from '../history.ts'
import type { Batcher } from './batcher.ts'
import { asIssueError, refusalOf } from './errors.ts'
import type { Intent, IssueIntent } from './intent.ts'
import type { Keep } from './keep.ts'
import type { Outcome } from './outcome.ts'
import { createPace } from './pace.ts'
import type { SealedDocument, Sealing } from './sealing.ts'
import type { Answer } from './waiters.ts'

/** Documents to seal in one turn of the event loop: about 1 ms. */
const SEALED_A_TURN = 16
/** Between reads of a block's finality. */
const FINALITY_POLL_INTERVAL_MS = 250

export type IssueRequest = {
  fields: DocumentFields
  tenant: string
  idempotencyKey?: string
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
export type Issued = {
  publicId: string
  document: Document
  documentHash: Hex
  status: RegistryStatus | 'pending'
  transactionHash: Hex | null
  /** `null` while it is pending, or when it could not be read. */
  finality: Finality | null
  /** Whether it had been promised or anchored before this request. */
  replayed: boolean
}

type Progress = Pick<Issued, 'status' | 'transactionHash' | 'finality'>
/** A reading of the chain; without the transaction if it was not read. */
type Reading = Pick<Progress, 'status' | 'finality'> & { transactionHash?: Hex }

/** An answer, and whether the document had been promised or anchored before this request. */
type Promised = Answer & { replayed: boolean }

/** It will be anchored; the block is not known yet. */
const PENDING = { status: 'pending', finality: null } as const

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
  keep: Keep
  sealing: Sealing
  history: History
  batcher: Batcher
}): Issuing {
  const { registryId, issuerId, outcomeOf, chain } = deps
  const { keep, sealing, batcher } = deps
  const pace = createPace(SEALED_A_TURN)

  async function issue(request: IssueRequest): Promise<Issued> {
    const started = performance.now()
    const document = bind(request.fields)
    await pace()
    batcher.assertOpen()
    const candidates = await sealing.seal(document, request)
    const there = await alreadyThere(document, candidates, request)
    const sealed = there?.sealed ?? candidates[0]
    const intent = intentOf(document, sealed, request)
    const { documentHash } = intent
    const answer = there ?? (await promise(intent, sealed, request))
    if (answer.status === 'moot') throw new TypeError('an issue is never moot')

    const { publicId } = sealed
    const { replayed } = answer
    const transactionHash =
      answer.transactionHash ?? (await readHistory(documentHash, there?.blockNumber))
    const progress =
      answer.status === 'pending'
        ? { ...PENDING, transactionHash }
        : await progressOf(intent, transactionHash, request, started)
    return { publicId, document, documentHash, replayed, ...progress }
  }

  /** @returns The transaction from this gateway's history, for one that no node has any more. */
  async function readHistory(documentHash: Hex, blockNumber?: number) {
    if (blockNumber === undefined) return null
    return deps.history.transactionOf(documentHash, blockNumber)
  }

  function bind(fields: DocumentFields): Document {
    return {
      ...fields,
      registry: registryId,
      issuerId,
    }
  }

  /**
   * Only a request with an idempotency key can have been anchored before, by this gateway or by
   * another one of the issuer. From then on this store keeps its payload, even if it never had it
   * or lost it.
   *
   * @param candidates The first one on the chain is the one that the request refers to.
   */
  async function alreadyThere(
    document: Document,
    candidates: readonly SealedDocument[],
    request: IssueRequest,
  ): Promise<
    | (Promised & {
        status: 'anchored'
        blockNumber: number
        sealed: SealedDocument
      })
    | undefined
  > {
    const { idempotencyKey, deadline } = request
    if (idempotencyKey === undefined) return undefined
    const intents = candidates.map((sealed) => intentOf(document, sealed, request))
    const outcomes = await deadline
      .within(() => Promise.all(intents.map(outcomeOf)))
      .catch((error) => {
        throw asIssueError(error)
      })
    const index = outcomes.findIndex(({ status }) => status !== 'absent')
    const [outcome, sealed] = [outcomes[index], candidates[index]]
    if (outcome?.status === 'conflict' || outcome?.status === 'distrusted')
      throw refusalOf(outcome.status)
    if (outcome?.status !== 'anchored' || !sealed) return undefined
    await keep.restore(sealed)
    // When no node has the event any more, the block is final.
    if (outcome.transactionHash !== null)
      await keep.adopt(intentOf(document, sealed, request), outcome, sealed)
    return { ...outcome, replayed: true, sealed }
  }

  async function promise(
    intent: Intent,
    sealed: SealedDocument,
    { wait, deadline }: IssueRequest,
  ): Promise<Promised> {
    const isNew = await keep.add(intent, sealed, wait === 0)
    const limit = Math.min(wait, deadline.left())
    const answer = await batcher.submit(intent, limit)
    // The node may have been behind when it was read before: the transaction shows it.
    const before = answer.status === 'anchored' && answer.byAnother === true
    return { ...answer, replayed: !isNew || before }
  }

  /**
   * Reports the status of an anchored document. A new one is valid until it expires. A repeated one
   * may have been revoked since, and one that must be final may be dropped by a reorg: for these,
   * the chain is read until they are as final as requested, or the time is up.
   *
   * @param transactionHash The transaction that anchored it.
   */
  async function progressOf(
    { documentHash, validUntil }: Intent & { kind: 'issue' },
    transactionHash: Hex | null,
    { idempotencyKey, finality, wait, deadline }: IssueRequest,
    started: number,
  ): Promise<Progress> {
    if (idempotencyKey === undefined && finality === 'included') {
      const expired = validUntil !== 0 && Date.now() / 1000 >= validUntil
      return {
        status: expired ? 'expired' : 'valid',
        transactionHash,
        finality,
      }
    }
    let now: Reading = PENDING
    while (true) {
      now = await read(documentHash, finality, deadline).catch(() => now)
      const late = performance.now() - started >= wait || deadline.left() === 0
      if (late || reaches(now.finality, finality)) return { transactionHash, ...now }
      await sleep(Math.min(FINALITY_POLL_INTERVAL_MS, deadline.left()))
    }
  }

  /**
   * A missing record was dropped by a reorg, or has not reached this node yet: its finality is
   * unknown.
   */
  async function read(documentHash: Hex, wanted: Finality, deadline: Deadline): Promise<Reading> {
    const { status, record } = await deadline.within((signal) =>
      chain.read({ issuerId, documentHash }, { signal }),
    )
    if (record.anchoredBlock === 0) return PENDING
    if (wanted === 'included') return { status, finality: wanted }
    const { anchoredBlock } = record
    const [finality, event] = await Promise.all([
      deadline.within((signal) => chain.finalityOf(anchoredBlock, { signal })).catch(() => null),
      // After a reorg, another transaction may have anchored it.
      deadline
        .within((signal) =>
          chain.issuedEvent({ issuerId, documentHash }, anchoredBlock, {
            signal,
          }),
        )
        .catch(() => undefined),
    ])
    return {
      status,
      finality,
      ...(event && { transactionHash: event.transactionHash }),
    }
  }

  return { issue }
}

function intentOf(
  document: Document,
  { documentHash }: Sealed,
  { tenant }: IssueRequest,
): IssueIntent {
  return {
    kind: 'issue',
    documentHash: toHex(documentHash),
    validUntil: validUntilOf(document),
    tenant,
  }
}

function reaches(finality: Finality | null, wanted: Finality): boolean {
  return finality !== null && FINALITIES.indexOf(finality) >= FINALITIES.indexOf(wanted)
}
