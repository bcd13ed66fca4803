import { DAY_MS, type DocumentFields, parseDocumentFields } from './document.ts'
import { type FieldProblem, FormatError, mergeProblems } from './errors.ts'
import type { JsonValue } from './json.ts'

/** The maximum bytes of a document that is sent to be issued. */
export const MAX_SENT_BYTES = 64 * 1024
/**
 * The maximum days from today (UTC) to the date of a document: a year, and a day for time zones.
 */
export const MAX_DAYS_AHEAD = 366

/**
 * Matches a letter, digit, punctuation mark or symbol, which a reader can see. Unicode counts some
 * blanks as such: the Hangul fillers as letters, the empty Braille pattern as a symbol.
 */
const VISIBLE = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u

/**
 * Reads a document to issue. Besides the format of a document, it must follow rules of this service
 * that catch mistakes of clients. Documents that were issued elsewhere are valid without them.
 *
 * @param sent Any JSON value.
 * @param now Milliseconds of the Unix epoch.
 * @returns The fields, or every bad one.
 */
export function readNewDocument(
  sent: JsonValue,
  now: number,
): { fields: DocumentFields } | { problems: readonly FieldProblem[] } {
  const body = withDates(sent)
  const parsed = parseFormat(body)
  const malformed = 'problems' in parsed ? parsed.problems : []
  const problems = mergeProblems(malformed, brokenRules(body, now))
  return 'fields' in parsed && problems.length === 0 ? parsed : { problems }
}

/**
 * @param categories The only categories that the caller may issue; `undefined` = all.
 * @returns Whether the caller may issue a document of this category.
 */
export function mayIssue(
  { category }: DocumentFields,
  categories: readonly string[] | undefined,
): boolean {
  return categories === undefined || categories.includes(category)
}

/** Also accepts dates in the form of a response, so that a client can send them back. */
const DATE_AS_RETURNED = /^(\d{4}-\d{2}-\d{2})T00:00:00Z$/

/** @returns The body, with dates in the form of a response replaced by YYYY-MM-DD. */
function withDates(body: JsonValue): JsonValue {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const dates = (['issuedAt', 'expiresAt'] as const).flatMap((field) => {
    const value = Object.hasOwn(body, field) ? body[field] : undefined
    if (typeof value !== 'string') return []
    const [, date] = DATE_AS_RETURNED.exec(value) ?? []
    return date === undefined ? [] : [[field, date] as const]
  })
  return dates.length === 0 ? body : { ...body, ...Object.fromEntries(dates) }
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

/** Ignores values that violate the format, because `parseDocument` reports those. */
function brokenRules(body: JsonValue, now: number): FieldProblem[] {
  const { subjectName, issuedAt } = Object(body) as Record<string, unknown>
  const problems: FieldProblem[] = []
  if (typeof subjectName === 'string' && !VISIBLE.test(subjectName))
    problems.push({
      field: 'subjectName',
      message: 'must have at least one letter, digit, punctuation mark or symbol',
    })
  const latest = now + MAX_DAYS_AHEAD * DAY_MS
  if (typeof issuedAt === 'string' && Date.parse(issuedAt) > latest)
    problems.push({
      field: 'issuedAt',
      message: `must be at most ${MAX_DAYS_AHEAD} days after today (UTC)`,
    })
  return problems
}
