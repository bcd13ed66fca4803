import { type DocumentFields, parseDocumentFields } from '../document/document.ts'
import { type FieldProblem, FormatError } from '../document/errors.ts'
import type { JsonValue } from '../document/json.ts'
import { ApiError } from './errors.ts'
import { mergeProblems } from './request.ts'

/** How far ahead of today (UTC) a document may be dated: a year, and a day for time zones. */
export const MAX_DAYS_AHEAD = 366
const MILLISECONDS_PER_DAY = 86_400_000

/**
 * A letter, digit, punctuation mark or symbol: something that a reader sees. Unicode counts some
 * blanks as such: the Hangul fillers as letters, the empty Braille pattern as a symbol.
 */
const VISIBLE = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u

/**
 * Parses the body of a request to issue. It must fit the format of a document, and rules of this API on top: they catch
 * mistakes of clients, and make no document invalid that was issued elsewhere.
 *
 * @param sent Any JSON value.
 * @param now Milliseconds of the Unix epoch.
 * @throws {ApiError} `bad_fields`, naming every bad field.
 */
export function parseIssueBody(sent: JsonValue, now: number): DocumentFields {
  const body = withDates(sent)
  const parsed = parseFormat(body)
  const malformed = 'problems' in parsed ? parsed.problems : []
  const details = mergeProblems(malformed, brokenRules(body, now))
  if ('fields' in parsed && details.length === 0) return parsed.fields
  throw new ApiError('bad_fields', 'invalid fields', { details })
}

/** Dates as they are returned are taken too: a client may send back what it got. */
const DATE_AS_RETURNED = /^(\d{4}-\d{2}-\d{2})T00:00:00Z$/

/** @returns The body with its dates as YYYY-MM-DD, where they were sent as they are returned. */
function withDates(body: JsonValue): JsonValue {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const dates = (['issuedAt', 'expiresAt'] as const).flatMap((field) => {
    const value = Object.hasOwn(body, field) ? body[field] : undefined
    if (typeof value !== 'string') return []
    const [, date] = DATE_AS_RETURNED.exec(value) ?? []
    return date === undefined ? [] : [[field, date] as const]
  })
  return { ...body, ...Object.fromEntries(dates) }
}

function parseFormat(
  body: JsonValue,
): { fields: DocumentFields } | { problems: readonly FieldProblem[] } {
  try {
    return { fields: parseDocumentFields(body) }
  } catch (error) {
    if (error instanceof FormatError && error.code === 'document_fields')
      return { problems: error.fields }
    throw error
  }
}

/** Values that do not fit the format are not its concern. */
function brokenRules(body: JsonValue, now: number): FieldProblem[] {
  const { subjectName, issuedAt } = Object(body) as Record<string, unknown>
  const problems: FieldProblem[] = []
  if (typeof subjectName === 'string' && !VISIBLE.test(subjectName))
    problems.push({
      field: 'subjectName',
      message: 'must have a letter, digit, punctuation mark or symbol',
    })
  if (typeof issuedAt === 'string' && issuedAt > latestDate(now))
    problems.push({
      field: 'issuedAt',
      message: `must be at most ${MAX_DAYS_AHEAD} days after today (UTC)`,
    })
  return problems
}

function latestDate(now: number): string {
  const latest = new Date(now + MAX_DAYS_AHEAD * MILLISECONDS_PER_DAY)
  return latest.toISOString().slice(0, 10)
}
