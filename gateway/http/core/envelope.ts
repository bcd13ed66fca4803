import { RequestError } from '@hono/node-server'
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type * as v from 'valibot'
import { describeBug, type Log } from '#base/log.ts'
import { Refusal } from '#base/refusal.ts'
import { BatchError } from '#batches/errors.ts'
import { FormatError } from '#document/errors.ts'
import { IssueError } from '#promise/errors.ts'
import { ChainError } from '#verifier/errors.ts'
import { PRIVATE } from './answer-headers.ts'
import type { AnswerOf } from './answers.ts'
import type { Env } from './env.ts'
import { ApiError, invalid } from './errors.ts'
import type { Success } from './operation.ts'
import type { createRequestLines } from './request-log.ts'

/**
 * The envelope of a success.
 *
 * @param data As the operation describes it.
 * @param status Absent = the first status of the operation.
 */
export function succeed<D extends v.GenericSchema>(
  c: Context,
  { responses }: { responses: Record<number, Success<D>> },
  data: AnswerOf<D>,
  status = Number(Object.keys(responses)[0]) as ContentfulStatusCode,
  headers: Record<string, string> = {},
): Response {
  return c.json({ success: true, data }, status, headers)
}

/**
 * The envelope of a failure. An error that is not meant for clients is a bug: logged, and reported
 * as `internal`.
 */
export function fail(c: Context<Env>, error: unknown, log: Log): Response {
  const { body, status, headers } = failureOf(error, c.get('requestId'), log)
  return c.json(body, status, headers)
}

/**
 * The envelope for a request that no route can see, since its target or its `Host` is malformed.
 *
 * @param started When the request came, as `performance.now()` counts.
 */
export function failUnrouted(
  error: unknown,
  { method, started }: { method: string; started: number },
  log: Log,
  write: ReturnType<typeof createRequestLines>,
): Response {
  const requestId = crypto.randomUUID()
  const malformed =
    error instanceof RequestError
      ? new ApiError('bad_request', 'the request target or the Host header is malformed')
      : error
  const { body, status, headers } = failureOf(malformed, requestId, log)
  write({
    method,
    route: '*',
    status,
    milliseconds: Math.round(performance.now() - started),
    requestId,
  })
  return Response.json(body, {
    status,
    headers: { 'X-Request-Id': requestId, ...PRIVATE, ...headers },
  })
}

/** @returns The body, status and headers of the envelope of a failure; a bug is logged. */
export function failureOf(error: unknown, requestId: string, log: Log) {
  const { code, message, details, status, headers } = translate(error)
  if (code === 'internal') log.error('internal_error', { requestId, ...describeBug(error) })
  const body = {
    success: false,
    data: {},
    error: { code, message, ...(details && { details }), requestId },
  }
  return { body, status, headers }
}

function translate(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof IssueError) return translateIssue(error)
  if (error instanceof Refusal) return translateRefusal(error)
  if (error instanceof BatchError) return translateBatch(error)
  if (error instanceof ChainError)
    return new ApiError(
      'chain_unavailable',
      'the chain cannot be read at the moment; send the request again',
      { cause: error },
    )
  if (error instanceof FormatError) return translateFormat(error)
  return new ApiError('internal', 'internal error', { cause: error })
}

function translateRefusal({ code, message, field, cause }: Refusal): ApiError {
  if (field !== undefined) return invalid('bad_fields', [{ field, message }])
  return new ApiError(code, message, { cause })
}

function translateBatch(error: BatchError): ApiError {
  const { code, message } = error
  if (code === 'too_large')
    return new ApiError(code, message, { headers: { Connection: 'close' }, cause: error })
  if (code === 'truncated') return new ApiError('bad_json', message, { cause: error })
  return invalid('bad_fields', [{ field: '', message }])
}

const ISSUE_MESSAGES = {
  chain_unavailable: 'the chain cannot be reached; nothing was done, send the request again',
  registry_refused: 'this gateway cannot write to the registry at the moment; nothing was done',
  fee_too_high: 'the fee is higher than this gateway may pay; nothing was done',
  overloaded: 'too many requests are waiting; nothing was done, send the request again',
  outcome_unknown:
    'the database did not say whether it took the request: it may still be done. Repeat it with its Idempotency-Key, or search for it',
  store_unavailable:
    'payloads cannot be stored or read at the moment; nothing was done, send the request again',
  signer_unavailable: 'the signer is unavailable; nothing was done, send the request again',
  account_shared: 'another program sends transactions with the account of this gateway',
  stopping: 'the service is stopping; nothing was done',
  idempotency_key_reused: 'the Idempotency-Key was already used with another body',
  not_issued: 'no such document',
  erased: 'the document has been erased',
  other_issuer: 'the document belongs to another issuer',
  conflict: 'the registry has this document with a different expiry',
  distrusted:
    'the document was issued by an account that is now distrusted; an operator can issue it again',
  already_revoked: 'the document is permanently revoked',
  already_superseded: 'the document already has a successor',
  not_suspended: 'the document is not suspended',
  change_pending:
    'the opposite change is not on the chain yet; nothing was done, send the request again',
} as const

function translateIssue(error: IssueError): ApiError {
  // The leader handles this by trying again with fewer actions.
  const code = error.code === 'too_large' ? 'registry_refused' : error.code
  return new ApiError(code, ISSUE_MESSAGES[code], { cause: error })
}

function translateFormat(error: FormatError): ApiError {
  const { code, message } = error
  if (code.startsWith('public_id_'))
    return new ApiError('bad_public_id', message, {
      details: [{ field: 'publicId', message }],
    })
  if (code === 'cid_malformed') return new ApiError('bad_cid', message)
  if (code.startsWith('json_')) return new ApiError('bad_json', message)
  return new ApiError('internal', 'internal error', { cause: error })
}
