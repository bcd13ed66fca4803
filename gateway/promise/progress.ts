import { setTimeout as sleep } from 'node:timers/promises'
import type { Deadline } from '#base/deadline.ts'
import type { Hex } from '#document/hex.ts'
import {
  type ChainReader,
  type DocumentKey,
  FINALITIES,
  type Finality,
  type RegistryStatus,
} from '#verifier/ports.ts'
import type { IssueIntent } from './intent.ts'

/** How long to wait between reads of a block's finality. */
const FINALITY_POLL_INTERVAL_MS = 250

/** The status of a document to issue. */
export type DocumentStatus = {
  status: RegistryStatus | 'pending'
  transactionHash: Hex | null
  /** `null` while it is pending, or when it could not be read. */
  finality: Finality | null
}

/** The status to wait for, and the time to wait. */
export type StatusRequest = {
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
export const PENDING = { status: 'pending', finality: null } as const

/**
 * Reports the status of an anchored document. A new one is valid until it expires. A repeated one
 * may since have been revoked, and one that must be final may be dropped by a reorg. For these, the
 * chain is read until they are as final as requested, or the time is up.
 */
export type ReadStatus = (
  intent: IssueIntent,
  /** The transaction that anchored it. */
  transactionHash: Hex | null,
  request: StatusRequest,
) => Promise<DocumentStatus>

export function createReadStatus({
  issuerId,
  chain,
}: {
  issuerId: number
  chain: ChainReader
}): ReadStatus {
  return async ({ documentHash, validUntil }, transactionHash, request) => {
    const { finality, isRepeat, until, deadline } = request
    if (!isRepeat && finality === 'included') {
      const isExpired = validUntil !== 0 && Date.now() / 1000 >= validUntil
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
