import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { FieldProblem } from '#document/errors.ts'
import type { IssueErrorCode } from '#promise/errors.ts'
import type { Check } from '#verifier/verdict.ts'

/** `too_large` is handled inside `engine/` and never reaches a client. */
type PublicIssueErrorCode = Exclude<IssueErrorCode, 'too_large'>

/** Maps the code of a failure to its HTTP status. docs/errors.md has a section for each code. */
export const STATUS = {
  bad_request: 400,
  bad_json: 400,
  bad_public_id: 400,
  bad_cid: 400,
  bad_query: 400,
  bad_idempotency_key: 400,
  unauthorized: 401,
  forbidden: 403,
  category_not_allowed: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  erased: 410,
  unknown_event: 410,
  too_large: 413,
  not_json: 415,
  bad_fields: 422,
  rate_limited: 429,
  batch_refused: 422,
  internal: 500,
  unverifiable: 503,
  idempotency_key_reused: 422,
  not_issued: 404,
  other_issuer: 403,
  conflict: 409,
  distrusted: 409,
  already_revoked: 409,
  already_superseded: 409,
  not_suspended: 409,
  change_pending: 409,
  too_many_webhooks: 409,
  too_many_keys: 409,
  already_rotated: 409,
  chain_unavailable: 503,
  registry_refused: 503,
  fee_too_high: 503,
  overloaded: 503,
  store_unavailable: 503,
  signer_unavailable: 503,
  account_shared: 503,
  stopping: 503,
} as const satisfies Record<string, ContentfulStatusCode> &
  Record<PublicIssueErrorCode, ContentfulStatusCode>

export type ApiErrorCode = keyof typeof STATUS

/** The errors of a request that may not change the document or batch that it names. */
export const NAMED_ERRORS = [
  'not_found',
  'category_not_allowed',
  'unverifiable',
] as const satisfies readonly ApiErrorCode[]

/** The errors of a request to write to the registry that failed without doing anything. */
export const WRITE_ERRORS = [
  'chain_unavailable',
  'registry_refused',
  'fee_too_high',
  'overloaded',
  'store_unavailable',
  'signer_unavailable',
  'stopping',
] as const satisfies readonly ApiErrorCode[]

/** Seconds after which a client may try again, for every 503. */
const RETRY_AFTER = '2'

/** A failure as reported to a client. The message contains only what a client may see. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: ApiErrorCode
  readonly details: readonly (FieldProblem | object)[] | undefined
  readonly headers: Record<string, string>

  constructor(
    code: ApiErrorCode,
    message: string,
    options: {
      details?: readonly (FieldProblem | object)[]
      headers?: Record<string, string>
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: options.cause })
    this.code = code
    this.details = options.details
    this.headers = {
      ...(STATUS[code] === 503 && { 'Retry-After': RETRY_AFTER }),
      ...options.headers,
    }
  }

  get status(): ContentfulStatusCode {
    return STATUS[this.code]
  }
}

/**
 * The check that is reported when the node does not yet have a block that this gateway has seen.
 */
export const HEAD_BEHIND: readonly Check[] = [
  { check: 'chain', outcome: 'unknown', code: 'head_behind' },
]

export function unverifiable(checks: readonly Check[]): ApiError {
  return new ApiError(
    'unverifiable',
    'the document could not be checked; this says nothing about its validity',
    { details: checks },
  )
}
