import { WEI_OF_GWEI } from '#base/wei.ts'
import type { IndexedDocument, IndexPage, IndexQuery } from '#promise/document-index.ts'

// Rules that both databases follow.

/** Concurrent calls that one transaction, or read, answers together. */
export const MAX_GROUP = 200
/** Payloads in one read, some kilobytes each. */
export const MAX_PAYLOADS = 200
/** The maximum number of webhooks of a tenant, and of webhooks for the events of all tenants. */
export const MAX_WEBHOOKS = 20
/**
 * The number of erasures that are finished together, because with SQLite the whole file is searched
 * for each.
 */
export const MAX_ERASED_TOGETHER = 16

/**
 * The number of old idempotency keys that each new key deletes: more than one, so that old keys run
 * out, and few, so that no request waits long.
 */
export const DELETED_PER_CLAIM = 2
/** A key is remembered until the end of the period after the one in which it was claimed. */
const IDEMPOTENCY_PERIOD_MS = 7 * 86_400_000

export const periodOf = (time: number) => Math.floor(time / IDEMPOTENCY_PERIOD_MS)

/** Fees are stored per minute, for a day. */
export const MAX_FEE_AGE_MINUTES = 24 * 60

export const minuteOf = (time: number) => Math.floor(time / 60_000)

/** @returns The amount rounded up. */
export const gweiOf = (wei: bigint) => (wei + WEI_OF_GWEI - 1n) / WEI_OF_GWEI

/** The maximum number of events that one page scans, whether or not they match. */
export const MAX_SCANNED_EVENTS = 5_000
/** The number of events that one write deletes, which takes some milliseconds. */
export const PRUNED_AT_ONCE = 500

/**
 * Finds the number from which on events are not older than a time, because numbers rise with time.
 * Yields a number, and receives the first event from that number on.
 */
export function* numberBefore(
  time: number,
  oldest: number | null,
  newest: number | null,
): Generator<number, number, { number: number; time: number } | undefined> {
  let [low, high] = [oldest ?? 1, (newest ?? 0) + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const event = yield middle
    if (event && event.time < time) low = event.number + 1
    else high = middle
  }
  return low - 1
}

/** The statuses in the index by their code in the tables; see the schemas. */
export const KEPT_STATUSES = [null, 'suspended', 'revoked', 'superseded', 'distrusted'] as const

/**
 * The maximum number of documents that one page of the index scans, which takes some milliseconds.
 * A filter that few documents pass must not delay others: the page then ends early, and the next
 * one continues.
 */
export const MAX_SCANNED_DOCUMENTS = 5_000
/** The maximum number of batches that one page of the index scans. */
export const MAX_SCANNED_BATCHES = 16

/** A column of blind indexes, with the values to search for. */
export type Blind = { name: string; values: readonly bigint[] }

/**
 * Chooses how a page of the index finds its documents.
 *
 * @returns The column that leads to them, absent for all documents, and the others that they must
 * match; with `isByStatus`, the status leads to them, because few documents have it.
 */
export function leadsOf({ subject, category, tenant, status }: IndexQuery): {
  driving: Blind | undefined
  others: Blind[]
  isByStatus: boolean
} {
  const [driving, ...others] = [
    ...blind('subject', subject),
    ...blind('category', category),
    ...blind('tenant', tenant),
  ]
  const isRare = status !== undefined && status !== 'valid' && status !== 'expired'
  return { driving, others, isByStatus: isRare && driving?.name !== 'subject' }
}

const blind = (name: string, values: readonly bigint[] | undefined): Blind[] =>
  values === undefined ? [] : [{ name, values }]

type Row = Record<string, unknown>

/** Rows by id, the highest first; `reached` is the lowest id that was scanned, 0 = no more. */
export type Scan = { rows: Row[]; reached: number }

/** The ids that a page may have: below `before`, and from `low` on. */
export type Range = { before: number; low: number }

/** @param scanned The number of rows that the scan covers, and their lowest id. */
export function scanOf(rows: Row[], scanned: { count: number; low: number }, limit: number): Scan {
  if (rows.length === limit) return { rows, reached: Number(rows.at(-1)?.id) }
  return { rows, reached: scanned.count === MAX_SCANNED_DOCUMENTS ? scanned.low : 0 }
}

/** @param reached The lowest id below which no batch was omitted. */
export function pageOf(
  scans: readonly Scan[],
  { reached: ofBatches, limit }: { reached: number; limit: number },
  documentOf: (row: Row) => IndexedDocument,
): IndexPage {
  // Rows with lower ids may be missing from some scans.
  const reached = Math.max(ofBatches, ...scans.map((scan) => scan.reached))
  const rows = scans
    .flatMap((scan) => scan.rows)
    .filter(({ id }) => Number(id) >= reached)
    .sort((a, b) => Number(b.id) - Number(a.id))
  const page = rows.slice(0, limit)
  const last = page.length < rows.length ? Number(page.at(-1)?.id) : reached
  return { documents: page.map(documentOf), next: last || null }
}
