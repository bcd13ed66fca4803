import type { Context } from 'hono'
import * as v from 'valibot'
import { withoutMark } from '#base/lines.ts'
import { decodeUtf8, readAtMost, TooLargeError } from '#document/bytes.ts'
import { type FieldProblem, mergeProblems } from '#document/errors.ts'
import { isObject, type JsonValue, parseStrictJson } from '#document/json.ts'
import { MAX_SENT_BYTES } from '#document/new-document.ts'
import { ApiError, invalid } from './errors.ts'

/** When reading a body took longer than this, the API key is looked up again. */
const SLOW_BODY_MS = 1_000

/** The query parameters that a route knows. */
export type Parameters<P extends v.ObjectEntries> = v.ObjectSchema<P, undefined>
/** The values of the query parameters. */
export type Query<P extends v.ObjectEntries> = v.InferOutput<Parameters<P>>

/**
 * Reads the query of a route that knows these parameters.
 *
 * @throws {ApiError} `bad_query`, naming every parameter that is unknown, repeated, missing or
 * malformed.
 */
export function readQuery<P extends v.ObjectEntries>(
  c: Context,
  parameters: Parameters<P>,
): Query<P> {
  const { url } = c.req
  const sent = url.includes('?') ? new URL(url).searchParams : new URLSearchParams()
  const misused = [...new Set(sent.keys())].flatMap((field) => {
    if (!Object.hasOwn(parameters.entries, field)) return [{ field, message: 'unknown parameter' }]
    return sent.getAll(field).length > 1 ? [{ field, message: 'must not be repeated' }] : []
  })
  const result = v.safeParse(parameters, Object.fromEntries(sent))
  if (result.success && misused.length === 0) return result.output
  throw invalid('bad_query', mergeProblems(misused, problemsOf(result.issues)))
}

/**
 * @returns Whether `Accept` names the first media type and not the second, the default.
 */
export function prefers(c: Context, wanted: string, fallback: string): boolean {
  const accept = (c.req.header('accept') ?? '').toLowerCase()
  return accept.includes(wanted) && !accept.includes(fallback)
}

/** @param issues The issues that valibot reports. */
export function problemsOf(issues: readonly v.BaseIssue<unknown>[] = []): FieldProblem[] {
  return issues.map((issue) => ({
    field: v.getDotPath(issue) ?? '',
    message: isOfObject(issue) ? messageOfKey(issue) : issue.message,
  }))
}

const isOfObject = ({ type }: v.BaseIssue<unknown>) => type === 'object' || type === 'strict_object'

/** The problem of an object is one of its keys, which is either unknown or missing. */
function messageOfKey({ expected, received }: v.BaseIssue<unknown>): string {
  if (expected === 'never') return 'unknown field'
  return received === 'undefined' ? 'is required' : 'must be an object'
}

/**
 * @param schema The schema of an object.
 * @param body Any JSON value.
 * @throws {ApiError} `bad_fields`, naming every bad field.
 */
export function parseBody<T>(schema: v.GenericSchema<unknown, T>, body: JsonValue): T {
  // Valibot would accept an array as an object.
  const result = isObject(body) ? v.safeParse(schema, body) : undefined
  if (result?.success) return result.output
  const problems = result && problemsOf(result.issues)
  throw invalid('bad_fields', problems ?? [{ field: '', message: 'must be a JSON object' }])
}

/**
 * Reads a JSON body of at most {@link MAX_SENT_BYTES} bytes.
 *
 * @throws {ApiError} `not_json` (content type or encoding), `too_large`, `bad_json`.
 */
export async function readJson(c: Context): Promise<JsonValue> {
  assertJson(c)
  return parseStrictJson(decode(await readBodyAtMost(c, MAX_SENT_BYTES)))
}

/**
 * Reads a body that may be omitted. Clients then send a Content-Type all the same.
 *
 * @returns `{}` for an empty body.
 * @throws {ApiError} as {@link readJson}.
 */
export async function readOptionalJson(c: Context): Promise<JsonValue> {
  const bytes = await readBodyAtMost(c, MAX_SENT_BYTES)
  if (bytes.length === 0) return {}
  assertJson(c)
  return parseStrictJson(decode(bytes))
}

/** Newline-delimited JSON: one JSON text on each line, UTF-8. */
export const NDJSON = 'application/x-ndjson'

/**
 * @returns Whether the body is NDJSON.
 * @throws {ApiError} `not_json` for a `Content-Encoding`.
 */
export function isNdjson(c: Context): boolean {
  assertNotEncoded(c)
  const type = c.req.header('content-type') ?? ''
  return /^application\/x-ndjson\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type)
}

function assertNotEncoded(c: Context): void {
  if (c.req.header('content-encoding') !== undefined)
    throw new ApiError('not_json', 'Content-Encoding is not supported')
}

/** @throws {ApiError} `not_json` (content type or encoding). */
export function assertJson(c: Context, accepted = 'application/json'): void {
  const type = c.req.header('content-type') ?? ''
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type))
    throw new ApiError('not_json', `Content-Type must be ${accepted}`)
  assertNotEncoded(c)
}

/**
 * Reads a body of at most `limit` bytes, a byte order mark included, which is left out.
 *
 * @throws {ApiError} `too_large`; `bad_json` when the body is cut off; `unauthorized` when the API
 * key was revoked while the body was received.
 */
export async function readBodyAtMost(c: Context, limit: number): Promise<Uint8Array> {
  const started = performance.now()
  const bytes = await readBytes(c, limit)
  if (performance.now() - started > SLOW_BODY_MS) await c.get('assertKey')?.()
  return withoutMark(bytes)
}

async function readBytes(c: Context, limit: number): Promise<Uint8Array> {
  const tooLarge = () =>
    new ApiError('too_large', `the body must have at most ${limit} bytes`, {
      headers: { Connection: 'close' },
    })
  const announced = Number(c.req.header('content-length') ?? Number.NaN)
  if (announced > limit) throw tooLarge()
  try {
    if (announced >= 0) return new Uint8Array(await c.req.arrayBuffer())
    return await readAtMost(c.req.raw.body, limit)
  } catch (cause) {
    if (cause instanceof TooLargeError) throw tooLarge()
    throw new ApiError('bad_json', 'the request body is truncated', { cause })
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes)
  } catch (cause) {
    throw new ApiError('bad_json', 'the body is not UTF-8', { cause })
  }
}

/** Whether a client wants the answer without waiting for a block (`respond-async` of RFC 7240). */
export function prefersAsync(prefer: string | undefined): boolean {
  return (prefer ?? '').split(',').some((item) => item.trim().toLowerCase() === 'respond-async')
}

/**
 * Reads the header of draft-ietf-httpapi-idempotency-key-header, a quoted string. A value without
 * quotes is accepted too.
 *
 * @throws {ApiError} `bad_idempotency_key`.
 */
export function idempotencyKeyOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const key = /^"([\x20-\x21\x23-\x7e]{1,255})"$|^([\x21\x23-\x7e]{1,255})$/.exec(header)
  if (!key)
    throw new ApiError(
      'bad_idempotency_key',
      'Idempotency-Key must have 1 to 255 printable ASCII characters',
    )
  return key[1] ?? key[2]
}
