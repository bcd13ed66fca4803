import { fromHex } from '#document/hex.ts'
import type { DocumentIndex, IndexPage, IndexQuery, ListedStatus } from '#promise/document-index.ts'
import { createdDaysOf, idsOfDays, isInDays } from '../created-days.ts'
import type { Postgres } from '../drivers/postgres/database.ts'
import { inSnapshot } from '../drivers/postgres/database.ts'
import type { Query, Row } from '../drivers/postgres/query.ts'
import { documentOf, ownedOf } from '../rows.ts'
import {
  type Blind,
  KEPT_STATUSES,
  leadsOf,
  MAX_SCANNED_BATCHES,
  MAX_SCANNED_DOCUMENTS,
  pageOf,
  type Range,
  type Scan,
  scanOf,
} from '../rules.ts'
import { COLUMNS, IS_PROMISED } from './index-documents.ts'

/** The index of documents in PostgreSQL. */
export function createPostgresDocumentIndex(database: Postgres): DocumentIndex {
  const { query } = database
  return {
    page: createIndexReader(database),
    async find(documentHash) {
      // Blind indexes have 64 bits, more than a number.
      const [row] = await query(
        `SELECT ${COLUMNS}, valid_until, tenant::text, category::text,
           (SELECT whole.root FROM batch AS whole WHERE whole.id = batch) AS root
         FROM document WHERE document_hash = $1 AND ${IS_PROMISED} LIMIT 1`,
        [fromHex(documentHash)],
      )
      return row && ownedOf(row)
    },
    async isDropped(place) {
      const [row] = await query('SELECT first FROM document_index')
      return place < Number(row?.first ?? 0)
    },
    async correct(found) {
      await query(
        `UPDATE document SET status = item.status
         FROM unnest($1::bytea[], $2::smallint[]) AS item (hash, status)
         WHERE document_hash = item.hash`,
        [
          found.map(({ documentHash }) => fromHex(documentHash)),
          found.map(({ status }) => KEPT_STATUSES.indexOf(status)),
        ],
      )
    },
  }
}

/** A condition; `bind` takes a value, and returns its place in the statement. */
type Condition = (bind: (value: unknown) => string) => string

/** @returns `page`; see `DocumentIndex`. */
function createIndexReader(database: Postgres): (query: IndexQuery) => Promise<IndexPage> {
  return (wanted) =>
    inSnapshot(database, async (query) => {
      const { drives, filters, wholeBatches } = conditionsOf(wanted, Date.now() / 1000)
      const range = await rangeOf(query, wanted)
      const batches = wholeBatches
        ? await drivesOfBatches(query, wholeBatches, range.before)
        : { drives: [], reached: 0 }
      const scans: Scan[] = []
      for (const drive of [...drives, ...batches.drives])
        scans.push(await scan(query, drive, filters, { ...range, limit: wanted.limit }))
      return pageOf(scans, { reached: batches.reached, limit: wanted.limit }, documentOf)
    })
}

async function rangeOf(query: Query, wanted: IndexQuery): Promise<Range> {
  const { before = Number.MAX_SAFE_INTEGER } = wanted
  const days = createdDaysOf(wanted)
  if (!days) return { before, low: 0 }
  const [ids] = await query(idsOfDays('$1', '$2'), days)
  return { before: Math.min(before, Number(ids?.high) + 1), low: Number(ids?.low) }
}

/** Scans the rows of one driving condition, which an index serves in the order of ids. */
async function scan(
  query: Query,
  drive: Condition,
  filters: readonly Condition[],
  range: Range & { limit: number },
): Promise<Scan> {
  const { before, limit } = range
  const [bounds] = await select(
    query,
    (bind) => `
      SELECT min(id) AS low, count(*) AS scanned FROM (
        SELECT id FROM document
        WHERE ${drive(bind)} AND id < ${bind(before)} AND id >= ${bind(range.low)}
        ORDER BY id DESC LIMIT ${MAX_SCANNED_DOCUMENTS}) AS looked`,
  )
  const [low, scanned] = [Number(bounds?.low), Number(bounds?.scanned)]
  if (scanned === 0) return { rows: [], reached: 0 }
  const rows = await select(
    query,
    (bind) => `
      SELECT ${COLUMNS} FROM document
      WHERE ${[drive, ...filters].map((one) => one(bind)).join(' AND ')}
        AND id < ${bind(before)} AND id >= ${bind(low)}
      ORDER BY id DESC LIMIT ${bind(limit)}`,
  )
  return scanOf(rows, { count: scanned, low }, limit)
}

/** There are few forms of a query, and each is one text. */
function select(query: Query, statement: Condition): Promise<Row[]> {
  const values: unknown[] = []
  const text = statement((value) => `$${values.push(value)}`)
  return query(text, values)
}

/**
 * @param now Seconds of the Unix epoch.
 * @returns The conditions that an index serves, of which a row passes one, and those that its rows
 *   must pass as well; with `wholeBatches`, the documents of batches with that status pass too.
 */
function conditionsOf(
  wanted: IndexQuery,
  now: number,
): { drives: Condition[]; filters: Condition[]; wholeBatches?: ListedStatus } {
  const { status, issuedFrom, issuedTo } = wanted
  const { driving, others, isByStatus } = leadsOf(wanted)
  const filters: Condition[] = [() => IS_PROMISED, ...others.map(isOneOf)]
  if (issuedFrom !== undefined) filters.push((bind) => `issued_on >= ${bind(issuedFrom)}`)
  if (issuedTo !== undefined) filters.push((bind) => `issued_on <= ${bind(issuedTo)}`)
  const days = createdDaysOf(wanted)
  if (days) filters.push((bind) => isInDays(`${bind(days[0])}::bigint`, `${bind(days[1])}::bigint`))
  const ofStatus = status && STATUS[status](Math.floor(now))
  if (ofStatus && isByStatus)
    return {
      drives: [ofStatus],
      filters: driving ? [...filters, isOneOf(driving)] : filters,
      wholeBatches: status,
    }
  if (ofStatus) filters.push((bind) => `(${ofStatus(bind)} OR ${inBatchWith(status)})`)
  if (!driving) return { drives: [() => 'true'], filters }
  const { name, values } = driving
  return { drives: values.map((value) => (bind) => `${name} = ${bind(value)}`), filters }
}

const isOneOf =
  ({ name, values }: Blind): Condition =>
  (bind) =>
    `${name} = ANY(${bind([...values])}::bigint[])`

/** A document of a batch has no block of its own. */
const IS_ANCHORED = '(block_number IS NOT NULL OR batch IS NOT NULL)'
/** Whether a document is in no batch, or in one that is on the chain and unchanged. */
const IS_UNCHANGED = `(batch IS NULL
  OR batch NOT IN (SELECT id FROM batch WHERE status <> 0 OR block_number IS NULL))`

const kept = (code: number) => (): Condition => () =>
  `status = ${code} AND status <> 0 AND ${IS_ANCHORED}`

/** Finds a status as far as the index knows; the chain may know more. */
const STATUS: Record<ListedStatus, (now: number) => Condition> = {
  pending: () => () => 'block_number IS NULL AND batch IS NULL',
  valid: (now) => (bind) =>
    `${IS_ANCHORED} AND ${IS_UNCHANGED} AND status = 0
     AND (valid_until = 0 OR valid_until > ${bind(now)})`,
  expired: (now) => (bind) =>
    `${IS_ANCHORED} AND ${IS_UNCHANGED} AND status = 0
     AND valid_until <> 0 AND valid_until <= ${bind(now)}`,
  suspended: kept(1),
  revoked: kept(2),
  superseded: kept(3),
  distrusted: kept(4),
}

/** Batches that have a status as a whole, and those of their documents that are not found by it. */
type Whole = { batches: string; documents: string }

const changed = (code: number): Whole => ({
  batches: `status = ${code} AND status <> 0 AND block_number IS NOT NULL`,
  documents: `status <> ${code}`,
})

const WHOLE: Partial<Record<ListedStatus, Whole>> = {
  pending: { batches: 'block_number IS NULL', documents: 'true' },
  suspended: changed(1),
  revoked: changed(2),
  superseded: changed(3),
}

/** @returns The condition that a document is in a batch with this status; `false` for none. */
function inBatchWith(status: ListedStatus): string {
  const whole = WHOLE[status]
  return whole ? `batch IN (SELECT id FROM batch WHERE promised AND ${whole.batches})` : 'false'
}

/**
 * Finds the newest batches with a status.
 *
 * @returns Conditions that each find the documents of one batch; below `reached` are documents of
 * batches that were left out, 0 = of none.
 */
async function drivesOfBatches(
  query: Query,
  status: ListedStatus,
  before: number,
): Promise<{ drives: Condition[]; reached: number }> {
  const whole = WHOLE[status]
  if (!whole) return { drives: [], reached: 0 }
  const rows = await query(
    `SELECT id, newest FROM (
       SELECT id, (SELECT max(document.id) FROM document
         WHERE document.batch = batch.id AND document.id < $1) AS newest
       FROM batch WHERE promised AND ${whole.batches}) AS found
     WHERE newest IS NOT NULL ORDER BY newest DESC LIMIT ${MAX_SCANNED_BATCHES + 1}`,
    [before],
  )
  const rest = rows[MAX_SCANNED_BATCHES]
  return {
    drives: rows.slice(0, MAX_SCANNED_BATCHES).map(
      ({ id }): Condition =>
        (bind) =>
          `batch = ${bind(id)} AND ${whole.documents}`,
    ),
    reached: rest ? Number(rest.newest) + 1 : 0,
  }
}
