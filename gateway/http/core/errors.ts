import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { FieldProblem } from '#document/errors.ts'
import type { Check } from '#verifier/verdict.ts'
import { type ApiErrorCode, againOf, ERRORS } from './error-table.ts'

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

/** Seconds after which a client may try again, unless the error says another number. */
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
      ...(againOf(ERRORS[code]) === 'yes' && { 'Retry-After': RETRY_AFTER }),
      ...options.headers,
    }
  }

  get status(): ContentfulStatusCode {
    return ERRORS[this.code].status
  }
}

const INVALID = { bad_fields: 'invalid fields', bad_query: 'invalid query parameters' } as const

/** @returns The error for a body or query with these problems. */
export function invalid(
  code: keyof typeof INVALID,
  details: readonly FieldProblem[],
  cause?: unknown,
): ApiError {
  return new ApiError(code, INVALID[code], { details, cause })
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
