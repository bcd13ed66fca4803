import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type {
  IndexedDocument,
  IndexPage,
  IndexQuery,
  ListedStatus,
} from '#promise/document-index.ts'
import { createdDaysOf, idsOfDays, isInDays } from '../created-days.ts'
import {
  type Blind,
  leadsOf,
  MAX_SCANNED_DOCUMENTS,
  pageOf,
  type Range,
  type Scan,
  scanOf,
} from '../rules.ts'
import { createBatchDrives, IS_PROMISED, IS_UNCHANGED, inBatchWith } from './index-batches.ts'
import { keyOfSubject } from './sorted-keys.ts'

/** A condition, and the values for its question marks. */
type Condition = { sql: string; values: readonly SQLInputValue[] }
/** A condition that an index or a view serves, and the order in which it has the highest id first. */
type Drive = Condition & { from?: string; order?: string }
type Row = Record<string, unknown>

/** @returns `page`; see `DocumentIndex`. */
export function createIndexReader(
  sqlite: DatabaseSync,
  columns: string,
  documentOf: (row: Row) => IndexedDocument,
): (query: IndexQuery) => Promise<IndexPage> {
  const prepare = createPrepare(sqlite)
  const drivesOfBatches = createBatchDrives(sqlite)

  function rangeOf(query: IndexQuery): Range {
    const { before = Number.MAX_SAFE_INTEGER } = query
    const days = createdDaysOf(query)
    if (!days) return { before, low: 0 }
    const { low, high } = prepare(idsOfDays('?1', '?2')).get(...days) as Record<string, number>
    return { before: Math.min(before, Number(high) + 1), low: Number(low) }
  }

  /** Scans the rows of one driving condition, which an index serves in the order of ids. */
  function scan(drive: Drive, filters: readonly Condition[], range: Range, limit: number): Scan {
    const { before } = range
    const { from = 'document', order = 'id DESC' } = drive
    const bounds = prepare(`
      SELECT min(id) AS low, count(*) AS scanned FROM (
        SELECT id FROM ${from} WHERE ${drive.sql} AND id < ? AND id >= ?
        ORDER BY ${order} LIMIT ${MAX_SCANNED_DOCUMENTS})`)
    const bound = bounds.get(...drive.values, before, range.low)
    const { low, scanned } = bound as { low: number; scanned: number }
    if (scanned === 0) return { rows: [], reached: 0 }
    const conditions = [drive, ...filters]
    const rows = prepare(`
      SELECT ${columns} FROM ${from}
      WHERE ${conditions.map(({ sql }) => sql).join(' AND ')} AND id < ? AND id >= ?
      ORDER BY ${order} LIMIT ?`).all(...conditions.flatMap(valuesOf), before, low, limit)
    return scanOf(rows, { count: scanned, low }, limit)
  }

  return async (query) => {
    const { drives, filters, wholeBatches } = conditionsOf(query, Date.now() / 1000)
    const range = rangeOf(query)
    const batches = wholeBatches
      ? drivesOfBatches(wholeBatches, range.before)
      : { drives: [], reached: 0 }
    const scans = [...drives, ...batches.drives].map((drive) =>
      scan(drive, filters, range, query.limit),
    )
    return pageOf(scans, { reached: batches.reached, limit: query.limit }, documentOf)
  }
}

/** Prepares each statement once: there are few forms of a query. */
function createPrepare(sqlite: DatabaseSync) {
  const statements = new Map<string, ReturnType<DatabaseSync['prepare']>>()
  return (sql: string) => {
    const known = statements.get(sql) ?? sqlite.prepare(sql)
    statements.set(sql, known)
    return known
  }
}

const valuesOf = ({ values }: Condition) => values

/**
 * @param now Seconds of the Unix epoch.
 * @returns The conditions that an index serves, of which a row passes one, and those that its rows
 *   must pass as well; with `wholeBatches`, the documents of batches with that status pass too. The
 *   unary plus keeps SQLite from choosing another index for these.
 */
function conditionsOf(
  query: IndexQuery,
  now: number,
): { drives: Drive[]; filters: Condition[]; wholeBatches?: ListedStatus } {
  const { status, issuedFrom, issuedTo } = query
  const { driving, others, isByStatus } = leadsOf(query)
  const filters = [{ sql: IS_PROMISED, values: [] }, ...others.map(isOneOf)]
  if (issuedFrom !== undefined) filters.push({ sql: '+issued_on >= ?', values: [issuedFrom] })
  if (issuedTo !== undefined) filters.push({ sql: '+issued_on <= ?', values: [issuedTo] })
  const days = createdDaysOf(query)
  if (days) filters.push({ sql: isInDays('?', '?'), values: days })
  const ofStatus = status && STATUS[status](now)
  if (ofStatus && isByStatus)
    return {
      drives: [ofStatus],
      filters: driving ? [...filters, isOneOf(driving)] : filters,
      wholeBatches: status,
    }
  if (ofStatus) filters.push({ ...ofStatus, sql: `+(${ofStatus.sql} OR ${inBatchWith(status)})` })
  if (!driving) return { drives: [{ sql: 'true', values: [] }], filters }
  const { name, values } = driving
  return { drives: values.map((value) => driveOf(name, value)), filters }
}

function driveOf(name: string, value: bigint): Drive {
  if (name !== 'subject') return { sql: `${name} = ?`, values: [value] }
  return {
    from: 'document_by_subject',
    order: 'level, number DESC, place DESC',
    ...{ sql: 'key = ?', values: [keyOfSubject(value)] },
  }
}

const isOneOf = ({ name, values }: Blind): Condition => ({
  sql: `+${name} IN (${values.map(() => '?').join(', ')})`,
  values,
})

/** A document of a batch has no block of its own. */
const IS_ANCHORED = '(block_number IS NOT NULL OR batch IS NOT NULL)'

const kept = (code: number) => (): Condition => ({
  sql: `status = ${code} AND status <> 0 AND ${IS_ANCHORED}`,
  values: [],
})

/** Finds a status as far as the index knows; the chain may know more. */
const STATUS: Record<ListedStatus, (now: number) => Condition> = {
  pending: () => ({ sql: 'block_number IS NULL AND batch IS NULL', values: [] }),
  valid: (now) => ({
    sql: `${IS_ANCHORED} AND ${IS_UNCHANGED} AND status = 0 AND (valid_until = 0 OR valid_until > ?)`,
    values: [now],
  }),
  expired: (now) => ({
    sql: `${IS_ANCHORED} AND ${IS_UNCHANGED} AND status = 0 AND valid_until <> 0 AND valid_until <= ?`,
    values: [now],
  }),
  suspended: kept(1),
  revoked: kept(2),
  superseded: kept(3),
  distrusted: kept(4),
}
