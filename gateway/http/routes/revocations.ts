import type { Context, Hono } from 'hono'
import * as v from 'valibot'
import type { Hex } from '../../../document/hex.ts'
import { decodeJsonText, type JsonValue, parseStrictJson } from '../../../document/json.ts'
import { REVOCATION_REASONS } from '../../../verifier/reasons.ts'
import type { NewDeadline } from '../../deadline.ts'
import type { FindKey, Grant } from '../../grant.ts'
import type { BatchReader } from '../../issue/batch-reader.ts'
import { IssueError } from '../../issue/errors.ts'
import type { Revising } from '../../issue/revise.ts'
import { splitLines } from '../../lines.ts'
import type { Log } from '../../log.ts'
import { type Changeable, changeableOf, type PathDeps } from '../document-path.ts'
import type { Env } from '../env.ts'
import { failureOf } from '../envelope.ts'
import { ApiError, WRITE_ERRORS } from '../errors.ts'
import { answerLines, isNdjson } from '../ndjson.ts'
import { operation, serve } from '../operation.ts'
import { createPlaces } from '../places.ts'
import { assertJson, parseBody, readBodyAtMost } from '../request.ts'
import { prefersAsync } from '../request-headers.ts'
import { presentRevised, revocationReason } from '../revisions.ts'
import * as schemas from '../schemas.ts'
import { tenantOf } from '../tenant.ts'

export type RevocationDeps = PathDeps & {
  findKey: FindKey
  revising: Revising
  batchReader: BatchReader
  /** How long a request waits for blocks; milliseconds. */
  wait: number
  newDeadline: NewDeadline
  log: Log
}

/** Maximum documents in one request. */
const MAX_REVOCATIONS = 10_000
/** Bytes: each entry takes some 130. */
const MAX_BYTES = 2 * 1024 * 1024
const MAX_LINE = 1024
/** Requests at the same time. */
const MAX_REQUESTS = 4
/** Revocations of one request at the same time: two full transactions. */
const MAX_UNDER_WAY = 400

const hex = v.pipe(
  v.string('must be a string'),
  v.regex(/^0x[0-9a-f]{64}$/, 'must be 0x and 64 lower-case hexadecimal digits'),
)

const entry = v.strictObject({
  publicId: v.exactOptional(v.string('must be a string')),
  documentHash: v.exactOptional(v.pipe(hex, v.description('In place of the publicId.'))),
  batchRoot: v.exactOptional(
    v.pipe(hex, v.description('Beside the documentHash of a document in a batch.')),
  ),
  reason: revocationReason,
})
const oneDocument = v.pipe(
  entry,
  v.check(
    ({ publicId, documentHash }) => (publicId === undefined) !== (documentHash === undefined),
    'must have either publicId or documentHash',
  ),
  v.check(
    ({ documentHash, batchRoot }) => batchRoot === undefined || documentHash !== undefined,
    'must have batchRoot only beside documentHash',
  ),
  v.check(
    ({ documentHash, batchRoot }) => batchRoot === undefined || documentHash !== batchRoot,
    'must name a document of the batch, not the batch',
  ),
)

const REVOKE_MANY = operation({
  operationId: 'revokeDocuments',
  method: 'post',
  path: '/v1/revocations',
  tag: 'Documents',
  summary: 'Revoke many documents',
  description: `A JSON array of up to ${MAX_REVOCATIONS} entries, or NDJSON (\`application/x-ndjson\`). The answer is NDJSON: one envelope for each entry, in order, with its number as \`line\`. A bad entry stops no other.`,
  scope: 'documents:revoke',
  query: {},
  headers: { prefer: schemas.prefer },
  body: {
    schema: v.array(entry),
    example: [{ publicId: schemas.EXAMPLE_PUBLIC_ID, reason: 'keyCompromise' }],
  },
  responses: {
    200: {
      description:
        'One envelope for each entry. Entries that were read are revoked even if the client leaves.',
      content: { 'application/x-ndjson': null },
    },
  },
  errors: WRITE_ERRORS,
})

export const revocationOperations = [REVOKE_MANY]

/** POST /v1/revocations: revokes many documents, each by itself. */
export function revocationRoutes(app: Hono<Env>, deps: RevocationDeps): void {
  const places = createPlaces(MAX_REQUESTS, 'requests of many revocations')
  serve(app, REVOKE_MANY, deps.findKey, async (c) => {
    const leave = places.enter()
    try {
      const grant = c.get('grant')
      const entries = await readEntries(c)
      const end = performance.now() + (prefersAsync(c.req.header('prefer')) ? 0 : deps.wait)
      const answers = workOff(entries, MAX_UNDER_WAY, (entry, index) =>
        answerOf(deps, entry, index, { end, grant, requestId: c.get('requestId') }),
      )
      // Entries that were read are revoked even if the client leaves.
      void Promise.allSettled(answers).then(leave)
      return answerLines(c, inOrder(answers))
    } catch (error) {
      leave()
      throw error
    }
  })
}

/** One line or element as it was sent, parsed as JSON; or why it could not be. */
type Entry = { value: JsonValue } | { error: unknown }

/** @throws {ApiError} `not_json`, `too_large`, `bad_json`, `bad_fields`. */
async function readEntries(c: Context): Promise<Entry[]> {
  const isLines = isNdjson(c)
  if (!isLines) assertJson(c, 'application/json or application/x-ndjson')
  const bytes = await readBodyAtMost(c, MAX_BYTES).catch((cause) => {
    throw cause instanceof ApiError
      ? cause
      : new ApiError('bad_json', 'request body truncated', { cause })
  })
  const entries = isLines ? await entriesOfLines(bytes) : entriesOfArray(bytes)
  if (entries.length > MAX_REVOCATIONS)
    throw new ApiError('too_large', `at most ${MAX_REVOCATIONS} revocations`)
  if (entries.length === 0) throw badEntry('must have at least one revocation')
  return entries
}

async function entriesOfLines(bytes: Uint8Array): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const line of splitLines([bytes], MAX_LINE)) {
    entries.push(parseLine(line))
    if (entries.length > MAX_REVOCATIONS) break
  }
  return entries
}

function parseLine(line: Uint8Array | undefined): Entry {
  if (line === undefined)
    return { error: new ApiError('too_large', `a line must have at most ${MAX_LINE} bytes`) }
  try {
    return { value: parseStrictJson(decodeJsonText(line)) }
  } catch (error) {
    return { error }
  }
}

function entriesOfArray(bytes: Uint8Array): Entry[] {
  const values = parseStrictJson(decodeJsonText(bytes))
  if (!Array.isArray(values)) throw badEntry('must be an array')
  return values.map((value) => ({ value }))
}

function badEntry(message: string): ApiError {
  return new ApiError('bad_fields', 'invalid fields', { details: [{ field: '', message }] })
}

/** @returns The envelope of one line. Never rejects. */
async function answerOf(
  deps: RevocationDeps,
  entry: Entry,
  index: number,
  request: { end: number; grant: Grant; requestId: string },
): Promise<object> {
  const line = index + 1
  try {
    if ('error' in entry) throw entry.error
    return { line, success: true, data: await revokeOne(deps, entry.value, request) }
  } catch (error) {
    return { line, ...failureOf(error, request.requestId, deps.log).body }
  }
}

async function revokeOne(
  deps: RevocationDeps,
  value: JsonValue,
  { end, grant }: { end: number; grant: Grant },
): Promise<object> {
  const { revising, addresses, newDeadline } = deps
  const { publicId, reason: name, documentHash: hash, batchRoot } = parseBody(oneDocument, value)
  const deadline = newDeadline()
  const named = publicId ?? (hash as string)
  const {
    publicId: _,
    validUntil,
    ...key
  }: Changeable = batchRoot
    ? await inBatch(deps, grant, hash as Hex, batchRoot as Hex)
    : await changeableOf(deps, grant, named, deadline)
  const { documentHash } = key
  const revised = await revising.revise({
    intent: { kind: 'revoke', tenant: grant.tenant, ...key, reason: REVOCATION_REASONS[name] },
    ...(validUntil !== undefined && { validUntil }),
    wait: Math.max(0, end - performance.now()),
    deadline,
  })
  const changed = presentRevised(revised, 'revokedAt', addresses)
  return { ...(publicId !== undefined && { publicId }), documentHash, ...changed }
}

/** That a document is in the batch is not proven: the contract does not ask for it either. */
async function inBatch(
  { batchReader }: RevocationDeps,
  grant: Grant,
  documentHash: Hex,
  root: Hex,
): Promise<Changeable> {
  if (!(await batchReader.isOf(root, tenantOf(grant))))
    throw new IssueError('not_issued', 'no such batch of this tenant')
  return { documentHash, root, publicId: null }
}

/**
 * Begins at most `limit` pieces of work at a time.
 *
 * @returns The result of each, in order.
 */
function workOff<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R>[] {
  const results = items.map(() => Promise.withResolvers<R>())
  let next = 0
  async function worker(): Promise<void> {
    while (next < items.length) {
      const index = next++
      await work(items[index] as T, index).then(results[index]?.resolve, results[index]?.reject)
    }
  }
  for (let i = 0; i < limit; i++) void worker()
  return results.map(({ promise }) => promise)
}

async function* inOrder<T>(results: readonly Promise<T>[]): AsyncGenerator<T> {
  for (const result of results) yield await result
}
