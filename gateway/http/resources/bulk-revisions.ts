import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from 'hono'
import * as v from 'valibot'
import { type BeginInShare, limitInShares, turnAfter } from '#base/concurrency.ts'
import { createPatience, type Patience } from '#base/deadline.ts'
import { splitLines } from '#base/lines.ts'
import type { Hex } from '#document/hex.ts'
import { decodeJsonText, type JsonValue, parseStrictJson } from '#document/json.ts'
import { type Grant, requesterOf, shareOf } from '#keys/grant.ts'
import type { Revised, RevisionRequest } from '#promise/revise.ts'
import { failureOf } from '../core/envelope.ts'
import { ApiError, invalid, WRITE_ERRORS } from '../core/errors.ts'
import { operation, resource } from '../core/operation.ts'
import { createPlaces } from '../core/places.ts'
import { assertJson, isNdjson, parseBody, prefersAsync, readBodyAtMost } from '../core/request.ts'
import { answerLines } from '../core/streams.ts'
import type { AppDeps } from '../deps.ts'
import { changeableOf } from './document-path.ts'
import { actionOf, presentRevised, REVISIONS, type Revision, revisedDocument } from './revisions.ts'
import * as schemas from './schemas.ts'

/** The maximum number of documents in one request. */
const MAX_ENTRIES = 10_000

const hex = v.pipe(
  v.string('must be a string'),
  v.regex(/^0x[0-9a-f]{64}$/, 'must be 0x followed by 64 lower-case hexadecimal digits'),
)

const NAME = {
  publicId: v.exactOptional(
    v.pipe(v.string('must be a string'), v.metadata({ pattern: '^[1-9A-HJ-NP-Za-km-z]{77}$' })),
  ),
  documentHash: v.exactOptional(
    v.pipe(hex, v.description('Names the document in place of the publicId.')),
  ),
  batchRoot: v.exactOptional(
    v.pipe(hex, v.description('The root of its batch, in addition to the documentHash.')),
  ),
}
/** @returns The check that an entry names exactly one document. */
function oneDocument<T extends Named>(entry: v.GenericSchema<unknown, T>) {
  return v.pipe(
    entry,
    v.check(
      ({ publicId, documentHash }) => (publicId === undefined) !== (documentHash === undefined),
      'must have either publicId or documentHash',
    ),
    v.check(
      ({ documentHash, batchRoot }) => batchRoot === undefined || documentHash !== undefined,
      'must not have batchRoot without documentHash',
    ),
    v.check(
      ({ documentHash, batchRoot }) => batchRoot === undefined || documentHash !== batchRoot,
      'must name a document of the batch, not the batch itself',
    ),
  )
}

const DESCRIPTION = `A JSON array of up to ${MAX_ENTRIES} entries, or NDJSON (\`application/x-ndjson\`). The answer is NDJSON with one envelope for each entry, in order, with its number as \`line\`. An invalid entry does not stop the others.`

const MANY = {
  revoke: { path: '/v1/revocations', summary: 'Revoke many documents' },
  suspend: { path: '/v1/suspensions', summary: 'Suspend many documents' },
  release: { path: '/v1/releases', summary: 'Release many suspended documents' },
} as const

/** The revision of many documents, with the schema of one entry. */
const bulkRevision = (kind: Revision) => {
  const body: v.ObjectEntries = REVISIONS[kind].body.entries
  const entry = v.strictObject({ ...NAME, ...body })
  const { publicId: _, ...answer } = revisedDocument[kind].entries
  const { path, summary } = MANY[kind]
  const one = operation({
    operationId: `${kind}Documents`,
    route: `POST ${path}`,
    tag: 'Documents',
    summary,
    description: DESCRIPTION,
    scope: 'documents:revoke',
    headers: { prefer: schemas.prefer },
    body: {
      schema: v.pipe(v.array(entry), v.minLength(1)),
      example: [{ publicId: schemas.EXAMPLE_PUBLIC_ID, ...REVISIONS[kind].example }],
      isNdjsonToo: true,
    },
    answer: {
      description:
        'One envelope for each entry. Entries that have been read are carried out even if the client disconnects.',
      content: { 'application/x-ndjson': null },
      lines: v.object({ publicId: v.exactOptional(schemas.publicId), ...answer }),
    },
    errors: WRITE_ERRORS,
  })
  return { kind, one, entry: oneDocument<Named>(entry) }
}
const BULK_REVISIONS = (['revoke', 'suspend', 'release'] as const).map(bulkRevision)

/** The maximum size of a body in bytes; each entry takes about 130. */
const MAX_BYTES = 2 * 1024 * 1024
const MAX_LINE = 1024
/** The maximum number of requests in progress, each of which takes memory for its entries. */
const MAX_REQUESTS = { all: 16, each: 4 }
/**
 * The maximum number of entries in progress: eight full transactions of one tenant, which leaves
 * room for others.
 */
const MAX_UNDER_WAY = { all: 2_400, each: 1_600 }
/** The entries of a request that start in one turn of the event loop, which take about 6 ms. */
const ENTRIES_A_TURN = 64
/**
 * How long to wait between reads while the node does not yet show a revision that is in a block.
 */
const POLL_INTERVAL_MS = 250

type BulkRevision = (typeof BULK_REVISIONS)[number]
/** The state that the entries of one request share. */
type Request = {
  revision: BulkRevision
  patience: Patience
  grant: Grant
  assertKey: () => Promise<void>
  requestId: string
}

/** Revokes, suspends and releases many documents, each on its own. */
export const bulkRevisionRoutes = resource(
  BULK_REVISIONS.map(({ one }) => one),
  (serve, deps) => {
    const places = createPlaces(MAX_REQUESTS, 'requests to change many documents')
    const begin = limitInShares(MAX_UNDER_WAY)
    for (const revision of BULK_REVISIONS)
      serve(revision.one, async (c) => {
        const share = shareOf(c.get('grant'))
        const leave = places.enter(share)
        try {
          const entries = await readEntries(c)
          const request = {
            revision,
            grant: c.get('grant'),
            assertKey: c.get('assertKey'),
            requestId: c.get('requestId'),
            patience: createPatience(prefersAsync(c.req.header('prefer')) ? 0 : deps.wait),
          }
          const answers = workOff(entries, { begin, share }, (entry, i) =>
            answerOf(deps, entry, i + 1, request),
          )
          const { promise: read, resolve: done } = Promise.withResolvers<void>()
          // Entries that were read are carried out even if the client leaves.
          void Promise.allSettled([...answers, read]).then(leave)
          return answerLines(c, inOrder(answers), { done })
        } catch (error) {
          leave()
          throw error
        }
      })
  },
)

/** One line or element as it was sent, parsed as JSON, or the reason why it could not be parsed. */
type Entry = { value: JsonValue } | { error: unknown }

/** @throws {ApiError} `not_json`, `too_large`, `bad_json`, `bad_fields`. */
async function readEntries(c: Context): Promise<Entry[]> {
  const isLines = isNdjson(c)
  if (!isLines) assertJson(c, 'application/json or application/x-ndjson')
  const bytes = await readBodyAtMost(c, MAX_BYTES)
  const entries = isLines ? await entriesOfLines(bytes) : entriesOfArray(bytes)
  if (entries.length > MAX_ENTRIES)
    throw new ApiError('too_large', `the body must have at most ${MAX_ENTRIES} entries`)
  if (entries.length === 0) throw badEntry('must have at least one entry')
  return entries
}

async function entriesOfLines(bytes: Uint8Array): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const line of splitLines([bytes], MAX_LINE)) {
    entries.push(parseLine(line))
    await turnAfter(entries.length, ENTRIES_A_TURN)
    if (entries.length > MAX_ENTRIES) break
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
  return invalid('bad_fields', [{ field: '', message }])
}

/** @returns The envelope of one line. Never rejects. */
async function answerOf(
  deps: AppDeps,
  entry: Entry,
  line: number,
  request: Request,
): Promise<object> {
  try {
    if ('error' in entry) throw entry.error
    return { line, success: true, data: await reviseOne(deps, entry.value, request) }
  } catch (error) {
    return { line, ...failureOf(error, request.requestId, deps.log).body }
  }
}

async function reviseOne(
  deps: AppDeps,
  value: JsonValue,
  { revision, patience, grant, assertKey }: Request,
): Promise<object> {
  // Thousands of entries take minutes, in which a stolen key may be revoked.
  await assertKey()
  const {
    publicId,
    documentHash: hash,
    batchRoot,
    ...body
  } = parseBody<Named>(revision.entry, value)
  const deadline = deps.newDeadline()
  const name =
    publicId !== undefined
      ? { publicId }
      : { documentHash: hash as Hex, ...(batchRoot && { root: batchRoot as Hex }) }
  const { key, validUntil } = await changeableOf(deps, grant, name, deadline)
  const { documentHash } = key
  const revised = await reviseWhile(deps, patience, {
    action: { ...actionOf(revision.kind, documentHash, body), ...key, ...requesterOf(grant) },
    validUntil,
  })
  const presented = presentRevised(revision.kind, revised, deps.addresses)
  return { ...(publicId !== undefined && { publicId }), documentHash, ...presented }
}

/** An entry names a document and has the body that a request for that document alone would have. */
type Named = { publicId?: string; documentHash?: string; batchRoot?: string; reason?: string }

/**
 * Keeps waiting for what is promised as long as blocks come. Repeating the revision is harmless.
 */
async function reviseWhile(
  { revising, newDeadline }: AppDeps,
  patience: Patience,
  request: Pick<RevisionRequest, 'action' | 'validUntil'>,
): Promise<Revised> {
  for (;;) {
    const wait = patience.left()
    const revised = await revising.revise({ ...request, wait, deadline: newDeadline() })
    if (revised.status !== 'pending') patience.progressed()
    if (revised.status !== 'pending' || patience.left() === 0) return revised
    await sleep(Math.min(POLL_INTERVAL_MS, patience.left()))
  }
}

/** Starts the work lazily. @returns The result of each piece of work, in order. */
function workOff<T, R>(
  items: readonly T[],
  { begin, share }: { begin: BeginInShare; share: string },
  work: (item: T, index: number) => Promise<R>,
): Promise<R>[] {
  const results = items.map(() => Promise.withResolvers<R>())
  void beginAll()
  return results.map(({ promise }) => promise)

  async function beginAll(): Promise<void> {
    for (const [i, { resolve, reject }] of results.entries()) {
      const { done } = await begin(share, () => work(items[i] as T, i))
      done.then(resolve, reject)
      await turnAfter(i + 1, ENTRIES_A_TURN)
    }
  }
}

async function* inOrder<T>(results: readonly Promise<T>[]): AsyncGenerator<T> {
  for (const result of results) yield await result
}
