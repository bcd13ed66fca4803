import type { Context } from 'hono'
import * as v from 'valibot'
import { clock } from '#base/clock.ts'
import {
  type DocumentFields,
  MAX_METADATA_BYTES,
  MAX_METADATA_ENTRIES,
  MAX_METADATA_KEY,
  REFUSED_METADATA_KEYS,
} from '#document/document.ts'
import type { JsonValue } from '#document/json.ts'
import { type KindOf, MAX_DAYS_AHEAD, mayIssue, readNewDocument } from '#document/new-document.ts'
import { type Grant, requesterOf } from '#keys/grant.ts'
import { ApiError, invalid } from '../core/errors.ts'
import { idempotencyKeyOf, prefersAsync, readJson } from '../core/request.ts'
import type { AppDeps } from '../deps.ts'
import type { Addresses } from './present.ts'
import { SENT_DAY } from './schemas.ts'

const sentDate = (description: string) =>
  v.pipe(
    v.string(),
    v.regex(new RegExp(`^(19[7-9][0-9]|[2-9][0-9]{3})-${SENT_DAY}`)),
    v.description(description),
  )

/**
 * The body of a request to issue, for /openapi.json. {@link parseIssueBody} checks the requests: it
 * accepts nothing that this schema refuses, and refuses more, as the descriptions say. A test
 * checks that the two agree.
 */
export const issueBody = v.strictObject({
  subjectName: v.pipe(
    v.string(),
    v.metadata({
      minLength: 1,
      maxLength: 200,
      pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
      description:
        'Well-formed Unicode with at least one visible letter, digit, punctuation mark or symbol. It is kept exactly as sent.',
    }),
  ),
  subjectId: v.pipe(v.string(), v.regex(/^[0-9]{1,64}$/), v.description('Digits.')),
  category: v.pipe(
    v.string(),
    v.regex(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/),
    v.maxLength(64),
    v.description('A category in lower snake case.'),
  ),
  issuedAt: sentDate(
    `A real date from 1970-01-02, at most ${MAX_DAYS_AHEAD} days after today (UTC). The form of an answer is accepted too.`,
  ),
  expiresAt: v.exactOptional(
    v.nullable(
      sentDate(
        'The last valid day, not before issuedAt; absent or null if the document never expires.',
      ),
    ),
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
      v.description(`At most ${MAX_METADATA_BYTES} bytes of UTF-8 in total.`),
    ),
  ),
})

export const ISSUE_EXAMPLE = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'birth_certificate',
  issuedAt: '2026-01-31',
  expiresAt: '2036-01-30',
  metadata: { registrar: 'Testville' },
}

/**
 * Parses the body of a request to issue.
 *
 * @param sent Any JSON value.
 * @param rules.now Milliseconds of the Unix epoch.
 * @param rules.categories The only ones that the caller may issue; `undefined` = all.
 * @param rules.idempotencyKey With a key, it may repeat a request from before the kind was changed.
 * @returns The fields, with the error for a document that does not fit its kind and is new.
 * @throws {ApiError} `bad_fields`, naming every bad field; `category_not_allowed`.
 */
export function parseIssueBody(
  sent: JsonValue,
  rules: {
    now: number
    kindOf?: KindOf
    categories?: readonly string[] | undefined
    idempotencyKey?: string | undefined
  },
): { fields: DocumentFields; refuseNew?: ApiError } {
  const read = readNewDocument(sent, rules.now, rules.kindOf)
  const problems = 'problems' in read ? read.problems : undefined
  const refusal = problems && invalid('bad_fields', problems)
  const fields = 'fields' in read ? read.fields : read.misfit
  if (refusal && (fields === undefined || rules.idempotencyKey === undefined)) throw refusal
  if (fields === undefined) throw new TypeError('a document without fields or problems')
  if (!mayIssue(fields, rules.categories))
    throw new ApiError('category_not_allowed', 'the API key may not issue this category')
  return { fields, ...(refusal && { refuseNew: refusal }) }
}

/**
 * Reads a request to issue a document.
 *
 * @throws {ApiError} as {@link parseIssueBody} and `readJson`; `bad_idempotency_key`.
 */
export async function readIssueRequest(c: Context, { checkDocument, wait }: AppDeps) {
  const grant: Grant = c.get('grant')
  const sent = await readJson(c)
  const idempotencyKey = idempotencyKeyOf(c.req.header('idempotency-key'))
  const { categories } = grant
  const rules = {
    now: clock.wall(),
    kindOf: await checkDocument.current(),
    categories,
    idempotencyKey,
  }
  return {
    ...parseIssueBody(sent, rules),
    ...requesterOf(grant),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    wait: prefersAsync(c.req.header('prefer')) ? 0 : wait,
  }
}

/** @returns The headers of the answer about an issued document. */
export function issuedHeaders(
  { baseUrl }: Addresses,
  { publicId, replayed }: { publicId: string; replayed: boolean },
): Record<string, string> {
  return {
    Location: `${baseUrl}/v1/documents/${publicId}`,
    ...(replayed && { 'Idempotency-Replayed': 'true' }),
  }
}
