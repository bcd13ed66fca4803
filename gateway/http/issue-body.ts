import * as v from 'valibot'
import {
  type DocumentFields,
  MAX_METADATA_BYTES,
  MAX_METADATA_ENTRIES,
  MAX_METADATA_KEY,
  parseDocumentFields,
  REFUSED_METADATA_KEYS,
} from '../../document/document.ts'
import { type FieldProblem, FormatError } from '../../document/errors.ts'
import type { JsonValue } from '../../document/json.ts'
import { ApiError } from './errors.ts'
import { mergeProblems } from './request.ts'

/** Maximum days from today (UTC) to the date of a document: a year, and a day for time zones. */
export const MAX_DAYS_AHEAD = 366
const MILLISECONDS_PER_DAY = 86_400_000

/**
 * A letter, digit, punctuation mark or symbol: something that a reader sees. Unicode counts some
 * blanks as such: the Hangul fillers as letters, the empty Braille pattern as a symbol.
 */
const VISIBLE = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u

const sentDate = (description: string) =>
  v.pipe(
    v.string(),
    v.regex(/^(19[7-9][0-9]|[2-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T00:00:00Z)?$/),
    v.description(description),
  )

/**
 * The body of a request to issue, for /openapi.json. {@link parseIssueBody} judges requests: it
 * accepts nothing that this refuses, and refuses more, as the descriptions say. A test holds both
 * together.
 */
export const issueBody = v.strictObject({
  subjectName: v.pipe(
    v.string(),
    v.metadata({
      minLength: 1,
      maxLength: 200,
      pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
      description:
        'Kept exactly as sent. Well-formed Unicode with at least one visible letter, digit, punctuation mark or symbol.',
    }),
  ),
  subjectId: v.pipe(v.string(), v.regex(/^[0-9]{1,64}$/), v.description('Digits.')),
  category: v.pipe(
    v.string(),
    v.regex(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/),
    v.maxLength(64),
    v.description('Lower snake case.'),
  ),
  issuedAt: sentDate(
    `A real date, at most ${MAX_DAYS_AHEAD} days after today (UTC). The form of an answer is accepted too.`,
  ),
  expiresAt: v.exactOptional(
    sentDate('The last valid day, not before issuedAt. Absent: never expires.'),
  ),
  metadata: v.exactOptional(
    v.pipe(
      v.record(
        v.pipe(
          v.string(),
          v.metadata({
            minLength: 1,
            maxLength: MAX_METADATA_KEY,
            not: { enum: REFUSED_METADATA_KEYS },
          }),
        ),
        v.string(),
      ),
      v.maxEntries(MAX_METADATA_ENTRIES),
      v.description(`At most ${MAX_METADATA_BYTES} bytes of UTF-8 in all.`),
    ),
  ),
})

/**
 * Parses the body of a request to issue. It must fit the format of a document, and rules of this
 * API on top: they catch mistakes of clients. Documents issued elsewhere stay valid without them.
 *
 * @param sent Any JSON value.
 * @param now Milliseconds of the Unix epoch.
 * @param categories The only ones that the caller may issue; `undefined` = all.
 * @throws {ApiError} `bad_fields`, naming every bad field; `category_not_allowed`.
 */
export function parseIssueBody(
  sent: JsonValue,
  now: number,
  categories: readonly string[] | undefined,
): DocumentFields {
  const body = withDates(sent)
  const parsed = parseFormat(body)
  const malformed = 'problems' in parsed ? parsed.problems : []
  const details = mergeProblems(malformed, brokenRules(body, now))
  if (!('fields' in parsed) || details.length > 0)
    throw new ApiError('bad_fields', 'invalid fields', { details })
  if (categories !== undefined && !categories.includes(parsed.fields.category))
    throw new ApiError('category_not_allowed', 'the API key may not issue this category')
  return parsed.fields
}

/** Also accepts dates in the form of a response, so that a client can send them back. */
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

/** Ignores values that do not fit the format; `parseDocument` reports those. */
function brokenRules(body: JsonValue, now: number): FieldProblem[] {
  const { subjectName, issuedAt } = Object(body) as Record<string, unknown>
  const problems: FieldProblem[] = []
  if (typeof subjectName === 'string' && !VISIBLE.test(subjectName))
    problems.push({
      field: 'subjectName',
      message: 'must have a letter, digit, punctuation mark or symbol',
    })
  const latest = now + MAX_DAYS_AHEAD * MILLISECONDS_PER_DAY
  if (typeof issuedAt === 'string' && Date.parse(issuedAt) > latest)
    problems.push({
      field: 'issuedAt',
      message: `must be at most ${MAX_DAYS_AHEAD} days after today (UTC)`,
    })
  return problems
}
