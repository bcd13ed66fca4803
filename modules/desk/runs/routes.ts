import * as v from 'valibot'
import { clock } from '#base/clock.ts'
import { turnAfter } from '#base/concurrency.ts'
import { splitLines } from '#base/lines.ts'
import type { DocumentFields } from '#document/document.ts'
import { type FieldProblem, FormatError } from '#document/errors.ts'
import { decodeJsonText, type JsonValue, parseStrictJson } from '#document/json.ts'
import { type KindOf, MAX_SENT_BYTES, mayIssue, readNewDocument } from '#document/new-document.ts'
import type { AnswerOf } from '#http/core/answers.ts'
import { succeed } from '#http/core/envelope.ts'
import { ApiError } from '#http/core/errors.ts'
import { operation, resource } from '#http/core/operation.ts'
import { createPlaces } from '#http/core/places.ts'
import { idempotencyKeyOf, isNdjson, readBodyAtMost } from '#http/core/request.ts'
import { ISSUE_EXAMPLE, issueBody } from '#http/resources/issue-body.ts'
import { type Addresses, instant, verifyUrlOf } from '#http/resources/present.ts'
import * as schemas from '#http/resources/schemas.ts'
import { shareOf, tenantOf } from '#keys/grant.ts'
import type { DeskDeps } from '../deps.ts'
import { type CountedRun, RUN_MODES, RUN_STATES } from './ports.ts'
import type { RunRow } from './runs.ts'

const MAX_ROWS = 100_000
const MAX_BYTES = 32 * 1024 * 1024
/** The uploads at a time, which are in memory. */
const MAX_UPLOADS = { all: 4, each: 2 }
/** The rows that are checked in one turn of the event loop. */
const ROWS_A_TURN = 200
/** The bad rows that an answer names. */
const MAX_NAMED = 100
const MAX_RESULTS = 1_000

export const runSchema = v.object({
  id: v.string(),
  mode: v.picklist(RUN_MODES),
  state: v.picklist(RUN_STATES),
  reason: v.pipe(
    v.nullable(v.string()),
    v.description(
      'Of a stopped run, why: `requested`, `forbidden` (its owner may not issue any more) or `internal`. Of one that is running, the error for which it waits.',
    ),
  ),
  size: v.pipe(schemas.count, v.description('The number of rows.')),
  done: v.pipe(schemas.count, v.description('How many of them have a result.')),
  createdAt: schemas.instant,
  endedAt: v.nullable(schemas.instant),
  tenant: v.string(),
  owner: v.object({ kind: v.picklist(['key', 'person']), id: v.string() }),
})
const rowSchema = v.object({
  line: v.pipe(schemas.count, v.description('From 1.')),
  document: issueBody,
  issued: v.nullable(
    v.object({
      publicId: schemas.publicId,
      documentHash: schemas.hash,
      status: v.picklist(['valid', 'pending']),
      batchRoot: v.exactOptional(schemas.hash),
      verifyUrl: schemas.url,
    }),
  ),
  problem: v.nullable(
    v.object({
      code: v.string(),
      message: v.string(),
      details: v.exactOptional(v.array(v.object({ field: v.string(), message: v.string() }))),
    }),
  ),
})

const parameters = { id: v.pipe(v.string(), v.metadata({ pattern: '^[0-9a-f]{32}$' })) }

const BEGIN = operation({
  operationId: 'beginRun',
  route: 'POST /v1/runs',
  tag: 'Runs',
  summary: 'Issue up to 100,000 documents without waiting for them',
  description:
    'NDJSON: a document on each line, as in the body of `issueDocument`. If one is bad, nothing is accepted. Once accepted, the documents are issued even if the caller disconnects or the service restarts, unless the key or person loses the permission to issue. A repeat with the same Idempotency-Key returns the same run.',
  scope: 'documents:issue',
  query: {
    mode: v.pipe(
      v.optional(v.picklist(RUN_MODES, `must be one of ${RUN_MODES.join(', ')}`), 'single'),
      v.description('`batch` = with one Merkle root, as `issueBatch`.'),
    ),
  },
  headers: { 'idempotency-key': schemas.idempotencyKey },
  body: {
    schema: schemas.ndjson,
    lines: issueBody,
    mediaType: 'application/x-ndjson',
    example: `${JSON.stringify(ISSUE_EXAMPLE)}\n`,
  },
  answer: { status: 202, description: 'The run is on disk.', data: runSchema },
  errors: [
    'bad_idempotency_key',
    'idempotency_key_reused',
    'too_many_runs',
    'not_json',
    'too_large',
    'bad_json',
    'bad_fields',
    'overloaded',
    'store_unavailable',
  ],
})
const LIST = operation({
  operationId: 'listRuns',
  route: 'GET /v1/runs',
  tag: 'Runs',
  summary: "List the caller's runs, the newest first",
  description: 'Administrators also see that others have runs, but not their rows.',
  scope: 'documents:issue',
  query: {
    all: v.pipe(schemas.flag, v.description('Those of all owners, which requires `admin`.')),
  },
  answer: { description: 'The runs.', data: v.object({ runs: v.array(runSchema) }) },
  errors: ['store_unavailable'],
})
const OF_ONE = {
  tag: 'Runs',
  scope: 'documents:issue',
  parameters,
  errors: ['not_found', 'store_unavailable'],
} as const
const FOUND = { description: 'The run.', data: runSchema }
const RETRIEVE = operation({
  ...OF_ONE,
  operationId: 'retrieveRun',
  route: 'GET /v1/runs/:id',
  summary: 'See how far a run is',
  answer: FOUND,
})
const RESULTS = operation({
  ...OF_ONE,
  operationId: 'retrieveRunRows',
  route: 'GET /v1/runs/:id/rows',
  summary: 'Read the rows of a run with what became of them',
  description: 'They are deleted a day after the end of the run, or with the run.',
  query: {
    limit: schemas.sentLimit(MAX_RESULTS, 100),
    after: v.exactOptional(
      v.pipe(
        v.string(),
        v.regex(/^[0-9]{1,6}$/, 'must be a line'),
        v.description('The last line that was read.'),
      ),
    ),
  },
  answer: { description: 'Rows in order.', data: v.object({ rows: v.array(rowSchema) }) },
})
const STOP = operation({
  ...OF_ONE,
  operationId: 'stopRun',
  route: 'POST /v1/runs/:id/stop',
  summary: 'Stop a run before its next rows',
  description: 'A batch that is being issued is not stopped by it.',
  answer: FOUND,
})
const RESUME = operation({
  ...OF_ONE,
  operationId: 'resumeRun',
  route: 'POST /v1/runs/:id/resume',
  summary: 'Go on with a run that was stopped',
  answer: FOUND,
  errors: [...OF_ONE.errors, 'too_many_runs'],
})
const REMOVE = operation({
  ...OF_ONE,
  operationId: 'removeRun',
  route: 'DELETE /v1/runs/:id',
  summary: 'Stop a run, and delete its rows and results',
  description: 'Documents that were issued stay. Administrators remove runs of others too.',
  answer: { description: 'It is deleted.', data: v.object({ id: v.string() }) },
})

const OPERATIONS = [BEGIN, LIST, RETRIEVE, RESULTS, STOP, RESUME, REMOVE]

/** Serves runs, which the gateway issues by itself. */
export const runRoutes = resource<DeskDeps>(
  OPERATIONS,
  (serve, { runs, checkDocument, addresses }) => {
    const places = createPlaces(MAX_UPLOADS, 'uploads of runs')

    serve(BEGIN, async (c) => {
      if (!isNdjson(c)) throw new ApiError('not_json', 'Content-Type must be application/x-ndjson')
      const idempotencyKey = idempotencyKeyOf(c.req.header('idempotency-key'))
      const { mode } = c.get('query')
      const grant = c.get('grant')
      const leave = places.enter(shareOf(grant))
      try {
        const content = await readBodyAtMost(c, MAX_BYTES)
        const rows = await readRows(content, await checkDocument.current(), grant.categories)
        await c.get('assertKey')()
        const key = idempotencyKey !== undefined && { idempotencyKey }
        const run = await runs.add({ grant, mode, content, rows, ...key })
        if (!run) throw tooMany()
        return succeed(c, BEGIN, present(run))
      } finally {
        leave()
      }
    })
    serve(LIST, async (c) => {
      const [grant, isAll] = [c.get('grant'), c.get('query').all === 'true']
      if (isAll && tenantOf(grant) !== null)
        throw new ApiError('forbidden', 'all=true requires the scope admin')
      const list = isAll ? await runs.listAll() : await runs.list(grant)
      return succeed(c, LIST, { runs: list.map(present) })
    })
    for (const [one, read] of [
      [RETRIEVE, runs.get],
      [STOP, runs.stop],
      [RESUME, runs.resume],
    ] as const)
      serve(one, async (c) => {
        const run = await read(c.get('grant'), c.req.param('id'))
        if (!run) throw notFound()
        if (run === 'too_many') throw tooMany()
        return succeed(c, one, present(run))
      })
    serve(RESULTS, async (c) => {
      const { after = '0', limit } = c.get('query')
      const rows = await runs.rows(c.get('grant'), c.req.param('id'), Number(after), Number(limit))
      if (!rows) throw notFound()
      return succeed(c, RESULTS, { rows: rows.map((row) => presentRow(addresses, row)) })
    })
    serve(REMOVE, async (c) => {
      const id = c.req.param('id')
      if (!(await runs.remove(c.get('grant'), id))) throw notFound()
      return succeed(c, REMOVE, { id })
    })
  },
  { Run: runSchema },
)

const notFound = () => new ApiError('not_found', 'no such run')
const tooMany = () =>
  new ApiError(
    'too_many_runs',
    'too many unfinished runs: wait for one to end, or remove a stopped one',
  )

/** @throws {ApiError} `too_large`; `bad_fields`, naming bad rows by their lines. */
async function readRows(
  bytes: Uint8Array,
  kindOf: KindOf,
  categories: readonly string[] | undefined,
): Promise<DocumentFields[]> {
  const rows: DocumentFields[] = []
  const details: FieldProblem[] = []
  const now = clock.wall()
  let line = 0
  for await (const text of splitLines([bytes], MAX_SENT_BYTES)) {
    await turnAfter(++line, ROWS_A_TURN)
    if (line > MAX_ROWS) throw new ApiError('too_large', `a run has at most ${MAX_ROWS} rows`)
    const read = readRow(text, { now, kindOf, categories })
    if ('fields' in read) rows.push(read.fields)
    else
      for (const { field, message } of read.problems)
        details.push({ field: `line ${line}${field && `: ${field}`}`, message })
    if (details.length >= MAX_NAMED) break
  }
  if (line === 0) details.push({ field: '', message: 'must have at least one row' })
  if (details.length === 0) return rows
  throw new ApiError('bad_fields', 'no row was accepted, because some rows are bad', { details })
}

/** @returns The document, or what is wrong with it. */
function readRow(
  text: Uint8Array | undefined,
  rules: { now: number; kindOf: KindOf; categories: readonly string[] | undefined },
): { fields: DocumentFields } | { problems: readonly FieldProblem[] } {
  const bad = (message: string, field = '') => ({ problems: [{ field, message }] })
  if (text === undefined) return bad(`must have at most ${MAX_SENT_BYTES} bytes`)
  let sent: JsonValue
  try {
    sent = parseStrictJson(decodeJsonText(text))
  } catch (error) {
    if (error instanceof FormatError) return bad(error.message)
    throw error
  }
  const read = readNewDocument(sent, rules.now, rules.kindOf)
  if ('problems' in read || mayIssue(read.fields, rules.categories)) return read
  return bad('may not be issued with this key', 'category')
}

function present(run: CountedRun): AnswerOf<typeof runSchema> {
  const { id, mode, state, reason, size, done, createdAt, endedAt, tenant } = run
  const [kind, owner = ''] = run.owner.split(' ')
  return {
    id,
    mode,
    state,
    reason,
    size,
    done,
    createdAt: timeOf(createdAt),
    endedAt: endedAt === null ? null : timeOf(endedAt),
    tenant,
    owner: { kind: kind === 'person' ? 'person' : 'key', id: owner },
  }
}

const timeOf = (milliseconds: number) => instant(Math.floor(milliseconds / 1000))

function presentRow(
  addresses: Addresses,
  { line, fields: document, result }: RunRow,
): AnswerOf<typeof rowSchema> {
  const isIssued = result !== null && 'publicId' in result
  return {
    line,
    document,
    issued: isIssued ? { ...result, verifyUrl: verifyUrlOf(addresses, result.publicId) } : null,
    problem: result !== null && 'problem' in result ? result.problem : null,
  }
}
