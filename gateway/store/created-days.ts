import type { IndexQuery } from '#promise/document-index.ts'

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

/** An expression that equals the one in the index `document_by_day`. */
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
    `SELECT min(${DAY}) FROM document WHERE ${IN_INDEX} AND ${condition}`
  const ofDay = (edge: string) =>
    `(SELECT ${edge}(id) FROM document WHERE ${IN_INDEX} AND ${DAY} = day.number)`
  const ofBatch = (edge: string) =>
    `(SELECT ${edge}(document.id) FROM document WHERE document.batch = whole.id)`
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

/** @returns A condition on `document`; see {@link idsOfDays}. */
export function isInDays(from: string, to: string): string {
  return IS_IN(`${CREATED_AT} / 86400`, from, to)
}
