import { clock } from '#base/clock.ts'
import { fromHex } from '#document/hex.ts'
import type {
  IndexedDocument,
  IndexPage,
  IndexQuery,
  ListedStatus,
} from '#promise/document-index.ts'
import {
  all,
  type Dialect,
  first,
  hexOf,
  hexOrNull,
  type Kind,
  type Row,
  statement,
  type Values,
  type Work,
} from './sql.ts'
import { KEPT_STATUSES } from './tables.ts'

/**
 * The maximum number of documents that one page of the index scans, which takes some milliseconds.
 * A filter that few documents pass must not delay others: the page then ends early, and the next
 * one continues.
 */
const MAX_SCANNED_DOCUMENTS = 5_000
/** The maximum number of batches that one page of the index scans. */
const MAX_SCANNED_BATCHES = 16

// The times at which documents were promised, in the SQL of both databases.

/** When a document or its batch was promised, in seconds of the Unix epoch. */
export const CREATED_AT =
  'coalesce(created_at, (SELECT whole.promised_at FROM batch AS whole WHERE whole.id = batch))'

const LAST_DAY = 2 ** 31

/** @returns The first and last day of a query; `undefined` when it names none. */
export function createdDaysOf({ createdFrom, createdTo }: IndexQuery): number[] | undefined {
  if (createdFrom === undefined && createdTo === undefined) return undefined
  return [createdFrom ?? 0, createdTo ?? LAST_DAY]
}

/** An expression that equals the one in the index `record_by_day`. */
const DAY = 'created_at / 86400'
const IS_IN = (day: string, from: string, to: string) => `${day} >= ${from} AND ${day} <= ${to}`
const IN_INDEX = 'created_at IS NOT NULL'

/**
 * Lists are in the order of ids, which mostly is that of time, although a reindex and several
 * gateways mix them. So a page scans only ids between the lowest and the highest of these days. The
 * index tells both for one day at once, and is asked day by day.
 *
 * @param from A placeholder for days since 1970-01-01, inclusive.
 * @returns A statement for `low` and `high`, which are NULL when nothing was promised on these
 * days.
 */
export function idsOfDays(from: string, to: string): string {
  const first = (condition: string) =>
    `SELECT min(${DAY}) FROM record WHERE ${IN_INDEX} AND ${condition}`
  const ofDay = (edge: string) =>
    `(SELECT ${edge}(id) FROM record WHERE ${IN_INDEX} AND ${DAY} = day.number)`
  const ofBatch = (edge: string) =>
    `(SELECT ${edge}(record.id) FROM record WHERE record.batch = whole.id)`
  return `
    WITH RECURSIVE day (number) AS (
      ${first(IS_IN(DAY, from, to))}
      UNION ALL
      SELECT (${first(`${DAY} > day.number AND ${DAY} <= ${to}`)}) FROM day
      WHERE day.number IS NOT NULL)
    SELECT min(low) AS low, max(high) AS high FROM (
      SELECT ${ofDay('min')} AS low, ${ofDay('max')} AS high FROM day
      UNION ALL
      SELECT ${ofBatch('min')}, ${ofBatch('max')} FROM batch AS whole
      WHERE ${IS_IN('whole.promised_at / 86400', from, to)}) AS edges`
}

/** @returns A condition on `record`; see {@link idsOfDays}. */
export function isInDays(from: string, to: string): string {
  return IS_IN(`${CREATED_AT} / 86400`, from, to)
}

/** Whether a document is in no batch, or in one that was promised. */
export const IS_PROMISED =
  '(batch IS NULL OR batch NOT IN (SELECT id FROM batch WHERE NOT promised))'

/** @returns Where the chain has what a member names. */
const blockOf = (column: string, id: string) => `(SELECT send.block_number
  FROM member JOIN send ON send.id = member.send WHERE member.${column} = ${id})`

export const COLUMNS = `id, hash, batch_block, status,
  coalesce(${blockOf('record', 'record.id')}, ${blockOf('batch', 'record.batch')}) AS block_number,
  ${CREATED_AT} AS created_at`

/** @returns The ids of records, or of batches, that are not in a block. */
const pendingIds = (column: 'record' | 'batch') => `
  SELECT ${column} FROM waiting WHERE ${column} IS NOT NULL
  UNION ALL
  SELECT ${column} FROM member
  WHERE +${column} IS NOT NULL AND send IN (SELECT id FROM send WHERE block_number IS NULL)`
/** Whether a document that was issued alone is in a block. */
export const IS_PENDING = `record.id IN (${pendingIds('record')})`

/** A condition on the table `record`, with the values that it names. */
type Condition = { sql: (dialect: Dialect) => string; values?: Values }

const IDS_OF_DAYS = statement(idsOfDays(':createdFrom', ':createdTo'))

/** Reads a page of the index; see `DocumentIndex`. */
export function* readPage(wanted: IndexQuery): Work<IndexPage> {
  const { drives, filters, wholeBatches } = conditionsOf(wanted, clock.wall() / 1000)
  const range = yield* rangeOf(wanted)
  const batches = wholeBatches
    ? yield* drivesOfBatches(wholeBatches, range.before)
    : { drives: [], reached: 0 }
  const scans: Scan[] = []
  for (const drive of [...drives, ...batches.drives])
    scans.push(yield* scan(drive, filters, { ...range, limit: wanted.limit }))
  return pageOf(scans, { reached: batches.reached, limit: wanted.limit })
}

function* rangeOf(wanted: IndexQuery): Work<Range> {
  const { before = Number.MAX_SAFE_INTEGER } = wanted
  const days = createdDaysOf(wanted)
  if (!days) return { before, low: 0 }
  const [createdFrom, createdTo] = days
  const ids = yield* first(IDS_OF_DAYS, { createdFrom, createdTo })
  return { before: Math.min(before, Number(ids?.high) + 1), low: Number(ids?.low) }
}

/** Scans the rows of one driving condition, which an index serves in the order of ids. */
function* scan(
  drive: Condition,
  filters: readonly Condition[],
  { before, low, limit }: Range & { limit: number },
): Work<Scan> {
  const bounds = yield* first(boundsOf(drive), { ...drive.values, before, low })
  const [lowest, count] = [Number(bounds?.low), Number(bounds?.scanned)]
  if (count === 0) return { rows: [], reached: 0 }
  const conditions = [drive, ...filters]
  const values = Object.assign({}, ...conditions.map((one) => one.values))
  const rows = yield* all(rowsOf(conditions), { ...values, before, low: lowest, limit })
  return scanOf(rows, { count, low: lowest }, limit)
}

/** There are few forms of a query, and each is one text. */
const boundsOf = (drive: Condition) =>
  statement(
    (sql) => `
      SELECT min(id) AS low, count(*) AS scanned FROM (
        SELECT id FROM record WHERE ${drive.sql(sql)} AND id < :before AND id >= :low
        ORDER BY id DESC LIMIT ${MAX_SCANNED_DOCUMENTS}) AS looked`,
  )
const rowsOf = (conditions: readonly Condition[]) =>
  statement(
    (sql) => `
      SELECT ${COLUMNS} FROM record
      WHERE ${conditions.map((one) => one.sql(sql)).join(' AND ')} AND id < :before AND id >= :low
      ORDER BY id DESC LIMIT :limit`,
  )

/**
 * @param now Seconds of the Unix epoch.
 * @returns The conditions that an index serves, of which a row must pass one, and those that its
 * rows must also pass; with `wholeBatches`, the documents of batches with that status pass too.
 */
function conditionsOf(
  wanted: IndexQuery,
  now: number,
): { drives: Condition[]; filters: Condition[]; wholeBatches?: ListedStatus } {
  const { status, batch, issuedFrom, issuedTo } = wanted
  const { driving, others, isByStatus } = leadsOf(wanted)
  const filters: Condition[] = [{ sql: () => IS_PROMISED }, ...others.map(isOneOf)]
  if (issuedFrom !== undefined)
    filters.push({
      sql: ({ unindexed }) => `${unindexed}issued_on >= :issuedFrom`,
      values: { issuedFrom },
    })
  if (issuedTo !== undefined)
    filters.push({
      sql: ({ unindexed }) => `${unindexed}issued_on <= :issuedTo`,
      values: { issuedTo },
    })
  const [createdFrom, createdTo] = createdDaysOf(wanted) ?? []
  if (createdFrom !== undefined)
    filters.push({
      sql: (sql) =>
        isInDays(sql.value('createdFrom', 'integer'), sql.value('createdTo', 'integer')),
      values: { createdFrom, createdTo },
    })
  const ofStatus = status && { sql: () => STATUS[status], values: { now: Math.floor(now) } }
  if (ofStatus && isByStatus && batch === undefined)
    return {
      drives: [ofStatus],
      filters: driving ? [...filters, isOneOf(driving)] : filters,
      wholeBatches: status,
    }
  if (ofStatus)
    filters.push({
      ...ofStatus,
      sql: (sql) => `${sql.unindexed}(${ofStatus.sql()} OR ${inBatchWith(status)})`,
    })
  if (batch !== undefined)
    return {
      drives: [{ sql: () => IS_IN_BATCH, values: { root: fromHex(batch) } }],
      filters: driving ? [...filters, isOneOf(driving)] : filters,
    }
  if (!driving) return { drives: [{ sql: () => 'true' }], filters }
  const { name, values } = driving
  return {
    drives: values.map((value) => ({ sql: () => `${name} = :${name}`, values: { [name]: value } })),
    filters,
  }
}

const IS_IN_BATCH = 'batch = (SELECT whole.id FROM batch AS whole WHERE whole.root = :root)'

const isOneOf = ({ name, kind, values }: Field): Condition => ({
  sql: (sql) => sql.isIn(`${sql.unindexed}${name}`, `${name}Values`, kind),
  values: { [`${name}Values`]: [...values] },
})

/** A document in a batch is not sent by itself. */
const IS_ANCHORED = `NOT (${IS_PENDING})`
/** Whether a document is in no batch, or in one that is on the chain and unchanged. */
const IS_UNCHANGED = `(batch IS NULL OR (
  batch NOT IN (SELECT id FROM batch WHERE status <> 0)
  AND batch NOT IN (${pendingIds('batch')})))`
const IS_IN_FORCE = `${IS_ANCHORED} AND ${IS_UNCHANGED} AND status = 0`

const codeOf = (status: ListedStatus) =>
  (KEPT_STATUSES as readonly (ListedStatus | null)[]).indexOf(status)
const isKept = (status: ListedStatus) =>
  `status = ${codeOf(status)} AND status <> 0 AND ${IS_ANCHORED}`

/** Conditions for a status as far as the index knows it; the chain may know more. */
const STATUS: Record<ListedStatus, string> = {
  pending: IS_PENDING,
  valid: `${IS_IN_FORCE} AND (valid_until = 0 OR valid_until > :now)`,
  expired: `${IS_IN_FORCE} AND valid_until <> 0 AND valid_until <= :now`,
  suspended: isKept('suspended'),
  revoked: isKept('revoked'),
  superseded: isKept('superseded'),
  distrusted: isKept('distrusted'),
}

// A change of a whole batch is one row in the table of batches. Its documents keep their own
// status.

/** Batches that have a status as a whole, and those of their documents that this does not find. */
type Whole = { batches: string; documents: (sql: Dialect) => string }

const changed = (status: ListedStatus): Whole => ({
  batches: `status = ${codeOf(status)} AND status <> 0 AND batch.id NOT IN (${pendingIds('batch')})`,
  documents: ({ unindexed }) => `${unindexed}status <> ${codeOf(status)}`,
})

const WHOLE: Partial<Record<ListedStatus, Whole>> = {
  pending: { batches: `batch.id IN (${pendingIds('batch')})`, documents: () => 'true' },
  suspended: changed('suspended'),
  revoked: changed('revoked'),
  superseded: changed('superseded'),
}

/**
 * @returns The condition that a document is in a batch with this status; `false` if there is none.
 */
function inBatchWith(status: ListedStatus | undefined): string {
  const whole = status && WHOLE[status]
  return whole ? `batch IN (SELECT id FROM batch WHERE promised AND ${whole.batches})` : 'false'
}

const newestOf = (batches: string) =>
  statement(`
    SELECT id, newest FROM (
      SELECT id, (SELECT max(record.id) FROM record
        WHERE record.batch = batch.id AND record.id < :before) AS newest
      FROM batch WHERE promised AND ${batches}) AS found
    WHERE newest IS NOT NULL ORDER BY newest DESC LIMIT ${MAX_SCANNED_BATCHES + 1}`)

/**
 * Finds the newest batches with a status.
 *
 * @returns Conditions that each find the documents of one batch. Documents of batches that were
 * omitted are below `reached`; 0 = no batch was omitted.
 */
function* drivesOfBatches(
  status: ListedStatus,
  before: number,
): Work<{ drives: Condition[]; reached: number }> {
  const whole = WHOLE[status]
  if (!whole) return { drives: [], reached: 0 }
  const rows = yield* all(newestOf(whole.batches), { before })
  const rest = rows[MAX_SCANNED_BATCHES]
  return {
    drives: rows.slice(0, MAX_SCANNED_BATCHES).map(({ id }) => ({
      sql: (sql) => `batch = :batch AND ${whole.documents(sql)}`,
      values: { batch: id },
    })),
    reached: rest ? Number(rest.newest) + 1 : 0,
  }
}

/** A column, with the values to search for. */
type Field = { name: string; kind: Kind; values: readonly (bigint | string)[] }

/**
 * Chooses how a page of the index finds its documents.
 *
 * @returns The column that leads to them, absent for all documents, and the others that they must
 * match; with `isByStatus`, the status leads to them, because few documents have it.
 */
function leadsOf({ subject, category, tenant, status }: IndexQuery): {
  driving: Field | undefined
  others: Field[]
  isByStatus: boolean
} {
  const [driving, ...others] = [
    ...blind('subject', subject),
    ...blind('category', category),
    ...(tenant === undefined ? [] : [{ name: 'tenant', kind: 'text', values: [tenant] } as const]),
  ]
  const isRare = status !== undefined && status !== 'valid' && status !== 'expired'
  return { driving, others, isByStatus: isRare && driving?.name !== 'subject' }
}

const blind = (name: string, values: readonly bigint[] | undefined): Field[] =>
  values === undefined ? [] : [{ name, kind: 'integer', values }]

/** Rows by id, the highest first; `reached` is the lowest id that was scanned, 0 = no more. */
type Scan = { rows: Row[]; reached: number }

/** The ids that a page may have: below `before`, and from `low` on. */
type Range = { before: number; low: number }

/** @param scanned The number of rows that the scan covers, and their lowest id. */
function scanOf(rows: Row[], scanned: { count: number; low: number }, limit: number): Scan {
  if (rows.length === limit) return { rows, reached: Number(rows.at(-1)?.id) }
  return { rows, reached: scanned.count === MAX_SCANNED_DOCUMENTS ? scanned.low : 0 }
}

/** @param reached The lowest id below which no batch was omitted. */
function pageOf(
  scans: readonly Scan[],
  { reached: ofBatches, limit }: { reached: number; limit: number },
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

/** @param row A row of the table `record`, as both databases read it. */
export function documentOf(row: Row): IndexedDocument {
  return {
    place: Number(row.id),
    documentHash: hexOf(row.hash),
    batchBlock: hexOrNull(row.batch_block),
    blockNumber: row.block_number as number | null,
    status: KEPT_STATUSES[Number(row.status)] ?? null,
    createdAt: row.created_at as number | null,
  }
}
