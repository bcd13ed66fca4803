import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import * as v from 'valibot'
import type { BatchAnswer, BatchOutcome, BatchRequest, Unbatched } from '#batches/batch.ts'
import type { FoundBatch } from '#batches/batch-reader.ts'
import { cidOf } from '#document/cid.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import { requesterOf, shareOf, tenantOf } from '#keys/grant.ts'
import type { Quote } from '#promise/ports.ts'
import type { AnswerOf } from '../core/answers.ts'
import { failureOf, succeed } from '../core/envelope.ts'
import { ApiError, invalid, WRITE_ERRORS } from '../core/errors.ts'
import { operation, resource } from '../core/operation.ts'
import { createPlaces } from '../core/places.ts'
import { idempotencyKeyOf, isNdjson, prefersAsync } from '../core/request.ts'
import { answerLines } from '../core/streams.ts'
import type { AppDeps } from '../deps.ts'
import { issueBody } from './issue-body.ts'
import { instant, verifyUrlOf } from './present.ts'
import * as schemas from './schemas.ts'

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100

const CURSOR = v.pipe(v.string(), v.regex(/^[1-9][0-9]{0,14}$/, 'must be a cursor of this list'))
export const batchParameters = {
  root: v.pipe(v.string(), v.metadata({ pattern: '^0x[0-9a-f]{64}$' })),
}

const content = { 'application/x-ndjson': null }
const issuedLine = v.object({
  publicId: schemas.publicId,
  documentHash: schemas.hash,
  batchRoot: schemas.hash,
  blockchainHash: v.nullable(schemas.hash),
  status: v.picklist(['valid', 'pending']),
  network: schemas.network,
  verifyUrl: schemas.url,
})
const amount = v.pipe(v.string(), v.metadata({ pattern: '^[0-9]+$' }))
const seconds = v.pipe(
  schemas.count,
  v.description(
    'About how long a run of the lines takes in seconds, while nothing else waits: an estimate from the time between blocks.',
  ),
)
const checkedLine = v.object({
  status: v.literal('checked'),
  batch: v.object({
    size: v.pipe(schemas.count, v.description('The number of valid lines.')),
    gas: amount,
    fee: v.pipe(amount, v.description('The cost in wei at the current price.')),
    maxFee: v.pipe(amount, v.description('The maximum cost in wei.')),
    seconds,
  }),
  unbatched: v.pipe(
    v.object({
      alone: v.pipe(amount, v.description('With a transaction for each document.')),
      grouped: v.pipe(amount, v.description('With transactions of many documents.')),
      seconds,
    }),
    v.description('The cost in wei at the current price of issuing the lines without a batch.'),
  ),
})
const PROMISED = {
  content,
  lines: issuedLine,
  headers: {
    Location: schemas.url,
    'Idempotency-Replayed': v.exactOptional(v.literal('true')),
  },
}
const ISSUE_BATCH = operation({
  operationId: 'issueBatch',
  route: 'POST /v1/batches',
  tag: 'Batches',
  summary: 'Issue up to 100,000 documents in one transaction',
  description:
    'NDJSON: a document on each line, as in the body of `issueDocument`. The answer is NDJSON with one envelope for each line, in order, with its number as `line`. It begins after the last line has been read. An invalid line does not stop the others, unless `atomic=true`: the answer is then 422, also with one envelope for each line. Without an Idempotency-Key, the same body gives the same batch.',
  scope: 'documents:issue',
  query: {
    atomic: v.pipe(schemas.flag, v.description('Whether one invalid line stops the whole batch.')),
    dry_run: v.pipe(
      schemas.flag,
      v.description('Whether to check every line and estimate the cost, without issuing.'),
    ),
  },
  headers: { 'idempotency-key': schemas.idempotencyKey, prefer: schemas.prefer },
  body: {
    schema: schemas.ndjson,
    lines: issueBody,
    mediaType: 'application/x-ndjson',
    example:
      '{"subjectName":"Ada Lovelace","subjectId":"18151210","category":"birth_certificate","issuedAt":"2026-01-31"}\n',
  },
  exampleQuery: { dry_run: 'true' },
  responses: {
    200: { description: 'The result of a dry run.', content, lines: checkedLine },
    201: { description: 'The root is in a block.', ...PROMISED },
    202: {
      description: 'The batch is promised: it is on disk and on its way to the chain.',
      ...PROMISED,
    },
    422: {
      description: 'Nothing was issued, because no line is valid, or one is invalid with `atomic`.',
      content,
    },
  },
  errors: [
    'bad_idempotency_key',
    'idempotency_key_reused',
    'batch_refused',
    'not_json',
    'too_large',
    'bad_json',
    'bad_fields',
    'conflict',
    'distrusted',
    ...WRITE_ERRORS,
  ],
})

export const batchSchema = v.object({
  root: schemas.hash,
  size: v.pipe(schemas.count, v.description('The number of documents.')),
  status: schemas.status,
  manifest: v.pipe(
    v.nullable(v.string()),
    v.description('The CID of its manifest; null for a batch that another gateway issued.'),
  ),
  blockNumber: v.nullable(schemas.count),
  blockTime: v.nullable(schemas.instant),
  blockchainHash: v.nullable(schemas.hash),
  registry: schemas.registry,
  issuerId: schemas.issuerId,
  network: schemas.network,
})
const READ_ERRORS = ['chain_unavailable'] as const

const LIST_BATCHES = operation({
  operationId: 'listBatches',
  route: 'GET /v1/batches',
  tag: 'Batches',
  summary: 'List batches, the newest first',
  description: "Returns batches of the key's tenant; with the scope `admin`, of all tenants.",
  scope: 'documents:read',
  query: { limit: schemas.sentLimit(MAX_LIMIT, DEFAULT_LIMIT), cursor: v.exactOptional(CURSOR) },
  answer: {
    description: 'A page.',
    data: v.object({ batches: v.array(batchSchema), nextCursor: v.nullable(v.string()) }),
  },
  errors: READ_ERRORS,
})

const RETRIEVE_BATCH = operation({
  operationId: 'retrieveBatch',
  route: 'GET /v1/batches/:root',
  tag: 'Batches',
  summary: 'Retrieve a batch',
  scope: 'documents:read',
  parameters: batchParameters,
  answer: { description: 'The batch with its status.', data: batchSchema },
  errors: ['not_found', ...READ_ERRORS],
})

/** The maximum number of uploads in progress, each of which takes disk space and memory. */
const MAX_UPLOADS = { all: 16, each: 4 }
/** The number of characters of an answer that are sent together. */
const GATHER = 16 * 1024
/** Serves batches of documents, which are issued by one root and revised together. */
export const batchRoutes = resource(
  [ISSUE_BATCH, LIST_BATCHES, RETRIEVE_BATCH],
  (serve, deps) => {
    const { batchReader, newDeadline } = deps
    const places = createPlaces(MAX_UPLOADS, 'batches')
    serve(ISSUE_BATCH, async (c) => {
      const { atomic, dry_run } = c.get('query')
      const { categories } = c.get('grant')
      const share = shareOf(c.get('grant'))
      return issueBatch(c, deps, places.enter(share), {
        atomic: atomic === 'true',
        dryRun: dry_run === 'true',
        ...requesterOf(c.get('grant')),
        share,
        ...(categories && { categories }),
        assertAllowed: c.get('assertKey'),
      })
    })

    serve(LIST_BATCHES, async (c) => {
      const { limit, cursor } = c.get('query')
      const tenant = tenantOf(c.get('grant'))
      const before = cursor === undefined ? undefined : Number(cursor)
      const { batches, next } = await newDeadline().within(() =>
        batchReader.list(tenant, before, Number(limit)),
      )
      return succeed(c, LIST_BATCHES, {
        batches: batches.map((batch) => present(deps, batch)),
        nextCursor: next === undefined ? null : String(next),
      })
    })

    serve(RETRIEVE_BATCH, async (c) => {
      const root = batchRootOf(c.req.param('root'))
      const tenant = tenantOf(c.get('grant'))
      const batch = await newDeadline().within(() => batchReader.get(root, tenant))
      if (!batch) throw new ApiError('not_found', 'no such batch')
      return succeed(c, RETRIEVE_BATCH, present(deps, batch))
    })
  },
  { Batch: batchSchema },
)

async function issueBatch(
  c: Context,
  deps: AppDeps,
  leave: () => void,
  options: Omit<BatchRequest, 'body' | 'idempotencyKey' | 'wait' | 'newDeadline'>,
): Promise<Response> {
  try {
    if (!isNdjson(c)) throw new ApiError('not_json', 'Content-Type must be application/x-ndjson')
    const idempotencyKey = idempotencyKeyOf(c.req.header('idempotency-key'))
    const answer = await deps.batches.issue({
      ...options,
      body: c.req.raw.body ?? noBytes(),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      wait: prefersAsync(c.req.header('prefer')) ? 0 : deps.wait,
      newDeadline: deps.newDeadline,
    })
    return answerLines(c, batchEnvelopes(deps, answer, c.get('requestId')), {
      status: BATCH_STATUS[answer.outcome.status],
      headers: batchHeaders(deps, answer.outcome),
      gather: GATHER,
      done: () => void answer.close().finally(leave),
    })
  } catch (error) {
    leave()
    throw error
  }
}

/** The HTTP status of each outcome. */
const BATCH_STATUS = {
  refused: 422,
  checked: 200,
  valid: 201,
  pending: 202,
} as const satisfies Record<BatchOutcome['status'], ContentfulStatusCode>

/** @returns The headers of the answer about a batch. */
function batchHeaders({ addresses }: AppDeps, outcome: BatchOutcome): Record<string, string> {
  if (!('root' in outcome)) return {}
  return {
    Location: `${addresses.baseUrl}/v1/batches/${outcome.root}`,
    ...(outcome.replayed && { 'Idempotency-Replayed': 'true' }),
  }
}

/** @returns One envelope for each line. */
async function* batchEnvelopes(
  deps: AppDeps,
  { outcome, lines }: BatchAnswer,
  requestId: string,
): AsyncGenerator<object> {
  const stopped = new ApiError(
    'batch_refused',
    'nothing was issued, because another line is invalid',
  )
  const erased = new ApiError('erased', 'the document has been erased')
  const failed = (error: ApiError) => failureOf(error, requestId, deps.log).body
  for await (const one of lines) {
    const { line } = one
    if ('problems' in one) {
      yield { line, ...failed(invalid('bad_fields', one.problems)) }
    } else if ('isErased' in one) yield { line, ...failed(erased) }
    else if (outcome.status === 'refused') yield { line, ...failed(stopped) }
    else yield { line, success: true, data: lineData(deps, outcome, one) }
  }
}

function lineData(
  { addresses }: AppDeps,
  outcome: Exclude<BatchOutcome, { status: 'refused' }>,
  { publicId = '', documentHash = '0x' }: { publicId?: string; documentHash?: Hex },
): AnswerOf<typeof checkedLine | typeof issuedLine> {
  if (outcome.status === 'checked') {
    const { size, quote, unbatched, durations } = outcome
    return {
      status: 'checked',
      batch: { size, ...textsOf(quote), seconds: durations.batch },
      unbatched: { ...textsOf(unbatched), seconds: durations.single },
    }
  }
  return {
    publicId,
    documentHash,
    batchRoot: outcome.root,
    blockchainHash: outcome.transactionHash,
    status: outcome.status,
    network: addresses.network,
    verifyUrl: verifyUrlOf(addresses, publicId),
  }
}

/** Gas and wei are text, because they can exceed the numbers of JSON. */
function textsOf<T extends Quote | Unbatched>(amounts: T): Record<keyof T, string> {
  const texts = Object.entries(amounts).map(([name, amount]) => [name, String(amount)])
  return Object.fromEntries(texts)
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

/** @throws {ApiError} `not_found` */
export function batchRootOf(text: string): Hex {
  if (/^0x[0-9a-f]{64}$/.test(text)) return text as Hex
  throw new ApiError('not_found', 'no such batch')
}

function present({ addresses }: AppDeps, batch: FoundBatch): AnswerOf<typeof batchSchema> {
  const { root, size, manifest, status, record, transactionHash } = batch
  return {
    root,
    size,
    status,
    manifest: manifest && cidOf(fromHex(manifest)),
    blockNumber: record?.anchoredBlock ?? null,
    blockTime: instant(record?.anchoredAt ?? null),
    blockchainHash: transactionHash,
    registry: addresses.registry,
    issuerId: addresses.issuerId,
    network: addresses.network,
  }
}
