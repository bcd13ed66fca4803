import { DAY_MS, type DocumentFields, parseDocumentFields } from './document.ts'
import { type FieldProblem, FormatError, mergeProblems } from './errors.ts'
import type { JsonValue } from './json.ts'
import type { Kind } from './kind.ts'
import { kindProblems } from './kind-check.ts'
import { VISIBLE } from './members.ts'

/** The maximum bytes of a document that is sent to be issued. */
export const MAX_SENT_BYTES = 64 * 1024
/**
 * The maximum days from today (UTC) to the date of a document: a year, and a day for time zones.
 */
export const MAX_DAYS_AHEAD = 366

/**
 * Reads a document to issue. Besides the format of a document, it must follow rules of this service
 * that catch mistakes of clients. Documents that were issued elsewhere are valid without them.
 *
 * @param sent Any JSON value.
 * @param now Milliseconds of the Unix epoch.
 * @param kindOf The kind of documents of each category, if there is one.
 */
export function readNewDocument(sent: JsonValue, now: number, kindOf?: KindOf): NewDocument {
  const body = withDates(sent)
  const parsed = parseFormat(body)
  const malformed = 'problems' in parsed ? parsed.problems : []
  const ownProblems = mergeProblems(malformed, brokenRules(body, now))
  const problems = mergeProblems(ownProblems, problemsOfKind(body, kindOf))
  if (!('fields' in parsed) || ownProblems.length > 0) return { problems }
  return problems.length > 0 ? { problems, misfit: parsed.fields } : parsed
}

/** @returns The kind of documents of a category, if there is one. */
export type KindOf = (category: string) => Kind | undefined

/** The fields, or every bad one; `misfit` has them if only the kind of documents refuses them. */
export type NewDocument =
  | { fields: DocumentFields }
  | { problems: readonly FieldProblem[]; misfit?: DocumentFields }

function problemsOfKind(body: JsonValue, kindOf: KindOf | undefined): FieldProblem[] {
  const { category } = Object(body) as { category?: unknown }
  const kind = typeof category === 'string' ? kindOf?.(category) : undefined
  return kind ? kindProblems(kind, Object(body)) : []
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

/**
 * Also accepts dates in the form of a response, so that a client can send them back, and as programs
 * write them, with milliseconds; and an `expiresAt` of null, which clients send where they have none.
 */
const DATE_AS_RETURNED = /^(\d{4}-\d{2}-\d{2})T00:00:00(?:\.0{1,9})?Z$/

/** @returns The body, with such dates replaced by YYYY-MM-DD, and without an `expiresAt` of null. */
function withDates(sent: JsonValue): JsonValue {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return sent
  const { expiresAt, ...others } = sent
  const body = expiresAt === null ? others : sent
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
