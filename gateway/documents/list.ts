import { clock } from '#base/clock.ts'
import { limitPerTurn } from '#base/concurrency.ts'
import type { Deadline } from '#base/deadline.ts'
import type { Document } from '#document/document.ts'
import type { Hex } from '#document/hex.ts'
import type { Hkdf } from '#document/hkdf.ts'
import type { IssuerSubkeys } from '#document/keys.ts'
import { type BlindField, blindIndexOf } from '#promise/blind-index.ts'
import type {
  DocumentIndex,
  IndexedDocument,
  IndexQuery,
  KeptStatus,
  ListedStatus,
} from '#promise/document-index.ts'
import type { History } from '#promise/history.ts'
import type { Outbox } from '#promise/ports.ts'
import type { Successions } from '#promise/supersede.ts'
import type { ChainReader, ChainReading } from '#verifier/ports.ts'
import type { OpenIndexed, Opening } from './opening.ts'

/** The documents to open in one turn of the event loop, which take about 1 ms. */
const OPENED_A_TURN = 8
/**
 * The maximum number of index pages for one answer. It can end early when few of their documents
 * match.
 */
const MAX_INDEX_PAGES = 4

/** The search; dates are as in `IndexQuery`. */
type ListQuery = Omit<IndexQuery, 'subject' | 'category' | 'tenant'> & {
  /** The tenant of the documents; `null` = all tenants. */
  tenant: string | null
  subjectId?: string | undefined
  category?: string | undefined
}

/** A document in a list, with its current status. */
export type ListedDocument = {
  documentHash: Hex
  status: ListedStatus | 'erased'
  /** See `IndexedDocument`. */
  createdAt: number | null
  transactionHash: Hex | null
  /** The documentHash of its successor, if this gateway superseded it. */
  supersededBy?: Hex | undefined
  /** Absent when its payload is missing or erased. */
  opened?: { publicId: string; document: Document }
}

export type ListPage = {
  documents: ListedDocument[]
  /** See `IndexPage`. */
  next: number | null
  /**
   * The time of the oldest block at which a status was read, in seconds of the Unix epoch; `null` =
   * none was read.
   */
  asOf: number | null
}

export type Listing = { list(query: ListQuery, deadline: Deadline): Promise<ListPage> }

type Read = { listed: ListedDocument; asOf: number; correction?: Correction }
type Correction = { documentHash: Hex; status: KeptStatus | null }

/**
 * Lists documents with the index. The index only tells where to look: every document is opened from
 * its payload, and its status is read from the chain, where other accounts can change it. Wrong
 * entries of the index are corrected on the way.
 *
 * `list` rejects with a `ChainError`, or an `IssueError` `store_unavailable`.
 */
export function createListing(
  deps: ReaderDeps & { index: DocumentIndex; subkeys: readonly IssuerSubkeys[]; hkdf: Hkdf },
): Listing {
  const { index } = deps
  const read = createReader(deps)

  /** @returns The blind indexes of a value, one for each issuer secret. */
  const blind = (field: BlindField, value: string) =>
    deps.subkeys.map((subkeys) => blindIndexOf(subkeys, field, value, deps.hkdf))

  function indexQueryOf({ tenant, subjectId, category, ...rest }: ListQuery): IndexQuery {
    return {
      ...rest,
      ...(subjectId !== undefined && { subject: blind('subjectId', subjectId) }),
      ...(category !== undefined && { category: blind('category', category) }),
      ...(tenant !== null && { tenant }),
    }
  }

  /** @returns The matching documents in some pages of the index, and where the next page begins. */
  async function find(
    query: ListQuery,
    deadline: Deadline,
  ): Promise<{ found: Read[]; corrections: Correction[]; next: number | null }> {
    const found: Read[] = []
    const corrections: Correction[] = []
    let before = query.before
    for (let pages = 0; pages < MAX_INDEX_PAGES; pages++) {
      const limit = query.limit - found.length
      const page = await index.page(indexQueryOf({ ...query, before, limit }))
      const reads = await Promise.all(page.documents.map((one) => read(one, deadline)))
      found.push(...reads.filter((one) => fits(one, query)))
      corrections.push(...reads.flatMap(({ correction }) => correction ?? []))
      if (page.next === null) return { found, corrections, next: null }
      before = page.next
      if (found.length >= query.limit) break
    }
    return { found, corrections, next: before ?? null }
  }

  return {
    async list(query, deadline) {
      const { found, corrections, next } = await find(query, deadline)
      // Corrections are only hints for later lists, so this one does not wait for the disk.
      if (corrections.length > 0) index.correct(corrections).catch(() => {})
      const times = found.map(({ asOf }) => asOf)
      return {
        documents: found.map(({ listed }) => listed),
        next,
        asOf: times.length > 0 ? Math.min(...times) : null,
      }
    },
  }
}

type ReaderDeps = {
  open: OpenIndexed
  chain: ChainReader
  history: History
  successions: Successions
  outbox: Pick<Outbox, 'find'>
  issuerId: number
}

/** @returns A function that opens a document of the index and reads its status. */
function createReader({ open, chain, history, successions, outbox, issuerId }: ReaderDeps) {
  const turn = limitPerTurn(OPENED_A_TURN)

  /**
   * Reads the status from the chain, unless the node lags behind an outcome that this gateway has
   * seen.
   */
  async function statusOf(
    { documentHash, status: known }: IndexedDocument,
    reading: ChainReading,
  ): Promise<{ status: ListedStatus; correction?: Correction }> {
    const status = listedStatusOf(reading)
    const kept = keptStatusOf(status)
    if (kept === known || status === 'pending') return { status }
    const correction = { documentHash, status: kept }
    // A lagging node may show the status from before an outcome, but no final one.
    const isFinal = kept !== null && kept !== 'suspended'
    if (known === null || isFinal) return { status, correction }
    const kind = known === 'suspended' ? 'suspend' : 'revoke'
    const found = await outbox.find(kind, documentHash)
    return found?.outcome.status === 'anchored' ? { status: known } : { status, correction }
  }

  return async (indexed: IndexedDocument, deadline: Deadline): Promise<Read> => {
    await turn()
    const { documentHash } = indexed
    const opening = await open(indexed)
    const key = opening.key ?? { issuerId, documentHash }
    const reading = await deadline.within((signal) => chain.read(key, { signal }))
    const { anchoredBlock } = reading.record
    const transactionHash =
      anchoredBlock === 0
        ? null
        : await history.transactionOf(key.batch?.root ?? documentHash, anchoredBlock)
    const now = await statusOf(indexed, reading)
    const listed = {
      documentHash,
      createdAt: indexed.createdAt,
      transactionHash,
      supersededBy: await successions.successorOf(documentHash),
      status: opening.status === 'erased' ? ('erased' as const) : now.status,
      ...contentOf(opening),
    }
    return { listed, asOf: reading.blockTime, ...now }
  }
}

/** @returns Whether a document matches the query by what was read, and not only by the index. */
function fits({ listed }: Read, { subjectId, category, status }: ListQuery): boolean {
  const document = listed.opened?.document
  return (
    (status === undefined || listed.status === status) &&
    (!document || subjectId === undefined || document.subjectId === subjectId) &&
    (!document || category === undefined || document.category === category)
  )
}

/** A document in the index that is not in the registry is promised, so it will be anchored. */
function listedStatusOf({ status, record: { validUntil } }: ChainReading): ListedStatus {
  if (status === 'not_issued') return 'pending'
  // The newest block may be older than the expiry.
  const isOver = validUntil !== 0 && clock.wall() / 1000 >= validUntil
  return status === 'valid' && isOver ? 'expired' : status
}

function keptStatusOf(status: ListedStatus): KeptStatus | null {
  return status === 'pending' || status === 'valid' || status === 'expired' ? null : status
}

function contentOf(opening: Opening): Pick<ListedDocument, 'opened'> {
  if (opening.status !== 'opened') return {}
  const { publicId, document } = opening
  return { opened: { publicId, document } }
}
