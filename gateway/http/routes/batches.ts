import type { Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import * as v from 'valibot'
import { cidOf } from '../../../document/cid.ts'
import type { FieldProblem } from '../../../document/errors.ts'
import { fromHex, type Hex } from '../../../document/hex.ts'
import type { NewDeadline } from '../../deadline.ts'
import type { FindKey } from '../../grant.ts'
import type { BatchReader, BatchStanding } from '../../issue/batch-reader.ts'
import { IssueError } from '../../issue/errors.ts'
import type { Quote } from '../../issue/ports.ts'
import type { Revising } from '../../issue/revise.ts'
import type { Log } from '../../log.ts'
import type { Env } from '../env.ts'
import { failureOf, succeed } from '../envelope.ts'
import { ApiError, WRITE_ERRORS } from '../errors.ts'
import { answerLines, isNdjson } from '../ndjson.ts'
import { operation, serve } from '../operation.ts'
import { createPlaces } from '../places.ts'
import { type Addresses, instant, networkOfRegistry, verifyUrlOf } from '../present.ts'
import { readJson } from '../request.ts'
import { idempotencyKeyOf, prefersAsync } from '../request-headers.ts'
import { CHANGES, nothing, presentRevised, revocation } from '../revisions.ts'
import * as schemas from '../schemas.ts'
import { tenantOf } from '../tenant.ts'

/** The result for one line. */
export type BatchLine =
  /** The line is not a document. */
  | { line: number; problems: readonly FieldProblem[] }
  /** The line is a document; with its publicId and hash once its batch is issued. */
  | { line: number; publicId?: string; documentHash?: Hex }

export type BatchRequest = {
  body: AsyncIterable<Uint8Array>
  tenant: string
  /** The only categories that the caller may issue; absent = all. */
  categories?: readonly string[]
  idempotencyKey?: string
  /** Whether one bad line stops all. */
  atomic: boolean
  /** Whether to issue nothing. */
  dryRun: boolean
  /** Milliseconds to wait for a block once all is stored. */
  wait: number
  newDeadline: NewDeadline
}

export type BatchOutcome =
  /** Nothing was issued: no line is good, or one is bad and the request is atomic. */
  | { status: 'refused' }
  | { status: 'checked'; size: number; quote: Quote }
  /** `pending`: it will be anchored, whatever happens to this process. */
  | {
      status: 'valid' | 'pending'
      root: Hex
      transactionHash: Hex | null
      /** Whether it had been promised or anchored before this request. */
      replayed: boolean
    }

export type BatchAnswer = {
  outcome: BatchOutcome
  /** In order; made as they are read. */
  lines: AsyncGenerator<BatchLine>
  /** Frees what the lines are made of. */
  close(): Promise<void>
}

/** Issues all documents of an upload by one Merkle root. */
export type Batches = {
  /** Reads the whole upload first. Rejects when nothing was promised. */
  issue(request: BatchRequest): Promise<BatchAnswer>
}

export type BatchRouteDeps = {
  findKey: FindKey
  batches: Batches
  batchReader: BatchReader
  revising: Revising
  addresses: Addresses
  /** How long a request waits for a block; milliseconds. */
  wait: number
  newDeadline: NewDeadline
  log: Log
}

/** Uploads at the same time: each takes disk for its bytes, and memory for its tables. */
const MAX_UPLOADS = 2
/** Characters of an answer that are sent together. */
const GATHER = 16 * 1024
const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100

const FLAG = v.optional(v.picklist(['true', 'false'], 'must be true or false'), 'false')
const limit = v.pipe(
  v.string(),
  v.check(
    (text) => /^[1-9]\d{0,2}$/.test(text) && Number(text) <= MAX_LIMIT,
    `must be a whole number from 1 to ${MAX_LIMIT}`,
  ),
  v.metadata({ pattern: '^[1-9][0-9]{0,2}$', description: `1 to ${MAX_LIMIT}.` }),
)
const cursor = v.pipe(v.string(), v.regex(/^[1-9][0-9]{0,14}$/, 'is not a cursor'))
const parameters = { root: v.pipe(v.string(), v.metadata({ pattern: '^0x[0-9a-f]{64}$' })) }

const LINES = { 'application/x-ndjson': null }
const PROMISED = {
  content: LINES,
  headers: {
    Location: schemas.url,
    'Idempotency-Replayed': v.exactOptional(v.literal('true')),
  },
}
const ISSUE_BATCH = operation({
  operationId: 'issueBatch',
  method: 'post',
  path: '/v1/batches',
  tag: 'Batches',
  summary: 'Issue up to 100,000 documents by one transaction',
  description:
    'NDJSON: a document on each line, as in the body of `issueDocument`. The answer is NDJSON: one envelope for each line, in order, with its number as `line`; it begins after the last line was read. A bad line stops no other, unless `atomic=true`: then the answer is 422, with one envelope for each line too. Without an Idempotency-Key, the same body is the same batch.',
  scope: 'documents:issue',
  query: {
    atomic: v.pipe(FLAG, v.description('One bad line stops all.')),
    dry_run: v.pipe(FLAG, v.description('Check every line, estimate the cost, issue nothing.')),
  },
  headers: { 'idempotency-key': schemas.idempotencyKey, prefer: schemas.prefer },
  body: {
    schema: v.string(),
    mediaType: 'application/x-ndjson',
    example:
      '{"subjectName":"Ada Lovelace","subjectId":"18151210","category":"birth_certificate","issuedAt":"2026-01-31"}\n',
  },
  exampleQuery: { dry_run: 'true' },
  responses: {
    200: { description: 'A dry run.', content: LINES },
    201: { description: 'The root is in a block.', ...PROMISED },
    202: { description: 'Promised: on disk, and on its way to the chain.', ...PROMISED },
    422: {
      description: 'Nothing was issued: no line is good, or one is bad with `atomic`.',
      content: LINES,
    },
  },
  errors: [
    ...(['bad_idempotency_key', 'idempotency_key_reused', 'batch_refused'] as const),
    ...(['not_json', 'too_large', 'bad_json', 'bad_fields', 'conflict', 'distrusted'] as const),
    ...WRITE_ERRORS,
  ],
})

const batch = v.object({
  root: schemas.hash,
  size: v.pipe(schemas.count, v.description('How many documents it holds.')),
  status: schemas.status,
  manifest: v.pipe(
    v.nullable(v.string()),
    v.description('The CID of its manifest; null for a batch of another gateway.'),
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
  method: 'get',
  path: '/v1/batches',
  tag: 'Batches',
  summary: 'Batches, the newest first',
  description: "Those of the key's tenant; with the scope `admin`, of all.",
  scope: 'documents:read',
  query: { limit: v.optional(limit, String(DEFAULT_LIMIT)), cursor: v.exactOptional(cursor) },
  responses: {
    200: {
      description: 'A page.',
      data: v.object({ batches: v.array(batch), nextCursor: v.nullable(v.string()) }),
    },
  },
  errors: READ_ERRORS,
})

const RETRIEVE_BATCH = operation({
  operationId: 'retrieveBatch',
  method: 'get',
  path: '/v1/batches/:root',
  tag: 'Batches',
  summary: 'A batch, and where it stands',
  scope: 'documents:read',
  parameters,
  query: {},
  responses: { 200: { description: 'The batch.', data: batch } },
  errors: ['not_found', ...READ_ERRORS],
})

const CHANGE = {
  method: 'post',
  tag: 'Batches',
  scope: 'documents:revoke',
  parameters,
  query: {},
  headers: { prefer: schemas.prefer },
} as const
const CHANGE_ERRORS = ['not_found', 'not_issued', ...WRITE_ERRORS] as const

function changeResponses<E extends v.ObjectEntries>(times: E) {
  const data = v.object({
    ...{ root: schemas.hash, status: schemas.status, ...times, network: schemas.network },
    blockchainHash: v.nullable(schemas.hash),
  })
  return {
    200: { description: 'The change is in a block. The same again is the same answer.', data },
    202: { description: 'Promised: it will happen.', data },
  }
}

const REVOKE_BATCH = operation({
  ...CHANGE,
  operationId: 'revokeBatch',
  path: '/v1/batches/:root/revoke',
  summary: 'Revoke all documents of a batch, permanently',
  body: { schema: revocation, example: { reason: 'keyCompromise' } },
  responses: changeResponses({
    reason: schemas.reason,
    revokedAt: v.nullable(schemas.instant),
  }),
  errors: CHANGE_ERRORS,
})
const SUSPEND_BATCH = operation({
  ...CHANGE,
  operationId: 'suspendBatch',
  path: '/v1/batches/:root/suspend',
  summary: 'Suspend all documents of a batch',
  body: { schema: nothing, example: {} },
  responses: changeResponses({
    reason: schemas.reason,
    suspendedAt: v.nullable(schemas.instant),
  }),
  errors: ['already_revoked', 'change_pending', ...CHANGE_ERRORS],
})
const RELEASE_BATCH = operation({
  ...CHANGE,
  operationId: 'releaseBatch',
  path: '/v1/batches/:root/release',
  summary: 'Release a suspended batch',
  description: 'Documents that were suspended or revoked on their own stay so.',
  body: { schema: nothing, example: {} },
  responses: changeResponses({ releasedAt: v.nullable(schemas.instant) }),
  errors: ['already_revoked', 'not_suspended', 'change_pending', ...CHANGE_ERRORS],
})

const REVISIONS = [
  { operation: REVOKE_BATCH, ...CHANGES.revoke },
  { operation: SUSPEND_BATCH, ...CHANGES.suspend },
  { operation: RELEASE_BATCH, ...CHANGES.release },
] as const

export const batchOperations = [
  ...[ISSUE_BATCH, LIST_BATCHES, RETRIEVE_BATCH],
  ...[REVOKE_BATCH, SUSPEND_BATCH, RELEASE_BATCH],
]

/** Batches of documents: issued by one root, and changed together. */
export function batchRoutes(app: Hono<Env>, deps: BatchRouteDeps): void {
  const { findKey, batchReader, newDeadline } = deps
  const places = createPlaces(MAX_UPLOADS, 'batches')
  serve(app, ISSUE_BATCH, findKey, async (c) => {
    const { atomic, dry_run } = c.get('query')
    const { tenant, categories } = c.get('grant')
    return issueBatch(c, deps, places.enter(), {
      ...{ atomic: atomic === 'true', dryRun: dry_run === 'true', tenant },
      ...(categories && { categories }),
    })
  })

  serve(app, LIST_BATCHES, findKey, async (c) => {
    const { limit, cursor } = c.get('query')
    const tenant = tenantOf(c.get('grant'))
    const before = cursor === undefined ? undefined : Number(cursor)
    const { batches, next } = await newDeadline().within(() =>
      batchReader.list(tenant, before, Number(limit)),
    )
    return succeed(c, {
      batches: batches.map((batch) => present(deps, batch)),
      nextCursor: next === undefined ? null : String(next),
    })
  })

  serve(app, RETRIEVE_BATCH, findKey, async (c) => {
    const root = rootOf(c.req.param('root'))
    const tenant = tenantOf(c.get('grant'))
    const batch = await newDeadline().within(() => batchReader.get(root, tenant))
    if (!batch) throw new ApiError('not_found', 'no such batch')
    return succeed(c, present(deps, batch))
  })

  for (const { operation, changedAt, read } of REVISIONS)
    serve(app, operation, findKey, async (c) => {
      const root = rootOf(c.req.param('root'))
      if (!(await batchReader.isOf(root, tenantOf(c.get('grant')))))
        throw new IssueError('not_issued', 'no such batch of this tenant')
      const revised = await deps.revising.revise({
        intent: { ...read(root, await readJson(c)), root, tenant: c.get('grant').tenant },
        wait: prefersAsync(c.req.header('prefer')) ? 0 : deps.wait,
        deadline: newDeadline(),
      })
      const changed = presentRevised(revised, changedAt, deps.addresses)
      return succeed(c, { root, ...changed }, revised.status === 'pending' ? 202 : 200)
    })
}

async function issueBatch(
  c: Context,
  deps: BatchRouteDeps,
  leave: () => void,
  options: Pick<BatchRequest, 'atomic' | 'dryRun' | 'tenant' | 'categories'>,
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
    return answerLines(c, envelopesOf(deps, answer, c.get('requestId')), {
      status: STATUS[answer.outcome.status],
      headers: headersOf(deps, answer.outcome),
      gather: GATHER,
      done: () => void answer.close().finally(leave),
    })
  } catch (error) {
    leave()
    throw error
  }
}

const STATUS = {
  refused: 422,
  checked: 200,
  valid: 201,
  pending: 202,
} as const satisfies Record<BatchOutcome['status'], ContentfulStatusCode>

function headersOf({ addresses }: BatchRouteDeps, outcome: BatchOutcome): Record<string, string> {
  if (!('root' in outcome)) return {}
  return {
    Location: `${addresses.baseUrl}/v1/batches/${outcome.root}`,
    ...(outcome.replayed && { 'Idempotency-Replayed': 'true' }),
  }
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

/** @returns One envelope for each line. */
async function* envelopesOf(
  deps: BatchRouteDeps,
  { outcome, lines }: BatchAnswer,
  requestId: string,
): AsyncGenerator<object> {
  const stopped = new ApiError('batch_refused', 'nothing was issued: another line is bad')
  const failed = (error: ApiError) => failureOf(error, requestId, deps.log).body
  for await (const one of lines) {
    const { line } = one
    if ('problems' in one) {
      const { problems: details } = one
      yield { line, ...failed(new ApiError('bad_fields', 'invalid fields', { details })) }
    } else if (outcome.status === 'refused') yield { line, ...failed(stopped) }
    else yield { line, success: true, data: dataOf(deps, outcome, one) }
  }
}

function dataOf(
  { addresses }: BatchRouteDeps,
  outcome: Exclude<BatchOutcome, { status: 'refused' }>,
  { publicId = '', documentHash }: { publicId?: string; documentHash?: Hex },
): object {
  if (outcome.status === 'checked') {
    const { size, quote } = outcome
    const { gas, fee, maxFee } = quote
    return { status: 'checked', batch: { size, ...textsOf({ gas, fee, maxFee }) } }
  }
  return {
    publicId,
    documentHash,
    batchRoot: outcome.root,
    blockchainHash: outcome.transactionHash,
    status: outcome.status,
    network: networkOfRegistry(addresses.registry),
    verifyUrl: verifyUrlOf(addresses, publicId),
  }
}

/** Gas, and wei: more than a JSON number can hold. */
function textsOf({ gas, fee, maxFee }: Quote) {
  return { gas: String(gas), fee: String(fee), maxFee: String(maxFee) }
}

function rootOf(text: string): Hex {
  if (/^0x[0-9a-f]{64}$/.test(text)) return text as Hex
  throw new ApiError('not_found', 'no such batch')
}

function present({ addresses }: BatchRouteDeps, batch: BatchStanding): object {
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
    network: networkOfRegistry(addresses.registry),
  }
}
