import { clock } from '#base/clock.ts'
import { type BeginInShare, createNap, limitInShares } from '#base/concurrency.ts'
import type { NewDeadline } from '#base/deadline.ts'
import { describeBug, type Log } from '#base/log.ts'
import type { Batches } from '#batches/batch.ts'
import { encodeUtf8 } from '#document/bytes.ts'
import type { DocumentFields } from '#document/document.ts'
import type { FieldProblem } from '#document/errors.ts'
import { type KindOf, mayIssue, readNewDocument } from '#document/new-document.ts'
import { type Grant, hasScope, requesterOf, shareOf } from '#keys/grant.ts'
import { IssueError, type IssueErrorCode } from '#promise/errors.ts'
import type { Issuing } from '#promise/issue.ts'
import { createPool, type Pool, type PoolDeps } from './pool.ts'
import type { Run, RunStore } from './ports.ts'
import type { RowSealer } from './rows.ts'
import type { RowResult } from './runs.ts'

/** The batches that are issued at a time. One more may be that of a request. */
const MAX_BATCHES = { all: 2, each: 1 }
/** The rows that are read or written together. */
const ROWS_A_TURN = 400
/** How often runs are looked for that another gateway has accepted. */
const LOOK_INTERVAL_MS = 1_000
/** The pause of a run after an outage. */
const RETRY_INTERVAL_MS = 5_000

/** Refusals of one document. After any other, the same row can be issued later. */
const OF_ROW: readonly IssueErrorCode[] = [
  'idempotency_key_reused',
  'conflict',
  'distrusted',
  'erased',
]

export type WorkerDeps = PoolDeps & {
  store: RunStore
  sealer: RowSealer
  issuing: Issuing
  batches: Pick<Batches, 'issue'>
  /** The permissions that the owner of a run has now; `undefined` when there is no such owner. */
  grantOf(owner: string): Promise<Grant | undefined>
  /** The kinds of documents that hold now. */
  kinds(): Promise<KindOf>
  /** How long a row waits for its block, in milliseconds. */
  wait: number
  newDeadline: NewDeadline
  log: Log
}

export type RunWorker = {
  /** Lets it look for runs now. */
  wake(): void
  /** Issues the rows of runs until it is stopped. This is a chore: one gateway does it. */
  start(): () => Promise<void>
}

/** Thrown to end a run whose owner may not issue any more. */
class NotAllowed extends Error {}
/** Thrown for a new document that the present kind refuses. */
class RowRefused extends Error {
  readonly result: RowResult
  constructor(result: RowResult) {
    super('the row does not fit the present kind')
    this.result = result
  }
}

/** What runs share while one gateway works on them. */
type Work = { pool: Pool; beginBatch: BeginInShare; isStopped: () => boolean }

/**
 * Issues the rows of runs. A row has an Idempotency-Key of its own, so one that was under way when
 * a process was killed, or that two gateways issue at the same moment, is one document.
 */
export function createRunWorker(deps: WorkerDeps): RunWorker {
  const { store, log } = deps
  const nap = createNap()

  async function look(working: Map<string, Promise<void>>, shared: Work) {
    for (const run of await store.running()) {
      if (working.has(run.id)) continue
      const done = work(deps, run, shared).finally(() => working.delete(run.id))
      working.set(run.id, done)
    }
  }

  return {
    wake: nap.wake,
    start() {
      let isStopped = false
      const working = new Map<string, Promise<void>>()
      const isOver = () => isStopped
      const shared = {
        pool: createPool(deps, isOver),
        isStopped: isOver,
        beginBatch: limitInShares(MAX_BATCHES),
      }
      const everything = async () => {
        while (!isStopped) {
          try {
            await look(working, shared)
          } catch (error) {
            log.debug('runs_not_read', { error: String(error) })
          }
          await nap.sleep(LOOK_INTERVAL_MS)
        }
        await Promise.all(working.values())
      }
      const ended = everything()
      return async () => {
        isStopped = true
        nap.wake()
        await ended
      }
    },
  }
}

/** Works on a run until it ends, is stopped, or an outage lets it pause. Never rejects. */
async function work(deps: WorkerDeps, run: Run, shared: Work): Promise<void> {
  const { store, log } = deps
  const { isStopped } = shared
  const end = (state: 'stopped' | 'done', reason: string | null) =>
    store.change(run.id, 'running', { state, reason, endedAt: clock.wall() })
  try {
    if (run.mode === 'batch') {
      const { done } = await shared.beginBatch(run.tenant, () => issueBatch(deps, run, shared))
      await done
    } else await issueRows(deps, run, shared)
    const now = await store.find(run.id)
    if (now?.done === run.size) await end('done', null)
  } catch (error) {
    await handle(error).catch(() => {})
    const until = clock.wall() + RETRY_INTERVAL_MS
    while (!isStopped() && clock.wall() < until)
      await new Promise((resolve) => setTimeout(resolve, 100))
  }

  async function handle(error: unknown): Promise<void> {
    if (error instanceof NotAllowed) {
      // Without its owner, nobody can read its results.
      if (await deps.grantOf(run.owner)) await end('stopped', 'forbidden')
      else await store.remove(run.id)
    } else if (error instanceof IssueError)
      await store.change(run.id, 'running', {
        state: 'running',
        reason: error.code,
        endedAt: null,
      })
    else {
      log.error('run_failed', { run: run.id, ...describeBug(error) })
      await end('stopped', 'internal')
    }
  }
}

/** @throws {NotAllowed} when the owner may not issue any more, or has moved to another tenant. */
async function assertAllowed({ grantOf }: WorkerDeps, run: Run): Promise<Grant> {
  const grant = await grantOf(run.owner)
  if (grant?.tenant === run.tenant && hasScope(grant, 'documents:issue')) return grant
  throw new NotAllowed('the owner of the run may not issue')
}

/** Issues rows until there is none, or the run or the worker is stopped. */
async function issueRows(
  deps: WorkerDeps,
  run: Run,
  { pool, isStopped }: Pick<Work, 'pool' | 'isStopped'>,
): Promise<void> {
  const underWay = new Set<Promise<void>>()
  const failures: unknown[] = []
  for (let after = 0; !isStopped() && failures.length === 0; ) {
    const leave = await pool.enter(run.tenant)
    const next = await nextRow(deps, run, after).catch((error) => void failures.push(error))
    if (!next) {
      leave()
      break
    }
    after = next.line
    const issued = settleRow(deps, run, next)
      .catch((error) => void failures.push(error))
      .finally(() => {
        leave()
        underWay.delete(issued)
      })
    underWay.add(issued)
  }
  await Promise.all(underWay)
  if (failures.length > 0) throw failures[0]
}

type NextRow = { line: number; fields: DocumentFields; grant: Grant }

/** @throws {NotAllowed} when the owner may not issue it. */
async function nextRow(deps: WorkerDeps, run: Run, after: number): Promise<NextRow | undefined> {
  const row = await deps.store.next(run.id, after)
  if (!row) return undefined
  const { line, sealed } = row
  const fields = deps.sealer.open(run.id, 'row', line, sealed) as DocumentFields
  return { line, fields, grant: await assertAllowed(deps, run) }
}

/** @throws {IssueError} for an outage. */
async function settleRow(deps: WorkerDeps, run: Run, row: NextRow): Promise<void> {
  const { line } = row
  await settle(deps, run, [{ line, result: await issueRow(deps, row, `run:${run.id}:${line}`) }])
}

/** @throws {IssueError} for an outage. */
async function issueRow(
  { issuing, kinds, wait, newDeadline }: WorkerDeps,
  { fields, grant }: NextRow,
  idempotencyKey: string,
): Promise<RowResult> {
  if (!mayIssue(fields, grant.categories))
    return problemOf('category_not_allowed', 'the owner may not issue this category')
  const read = readNewDocument(fields, clock.wall(), await kinds())
  const refusal =
    'problems' in read && new RowRefused(problemOf('bad_fields', 'invalid fields', read.problems))
  try {
    const { publicId, documentHash, status } = await issuing.issue({
      fields,
      ...requesterOf(grant),
      idempotencyKey,
      wait,
      deadline: newDeadline(),
      finality: 'included',
      // It may have been issued before the kind was changed.
      ...(refusal && { refuseNew: refusal }),
    })
    return { publicId, documentHash, status: status === 'pending' ? 'pending' : 'valid' }
  } catch (error) {
    if (error instanceof RowRefused) return error.result
    if (error instanceof IssueError && OF_ROW.includes(error.code))
      return problemOf(error.code, error.message)
    throw error
  }
}

function problemOf(code: string, message: string, details?: readonly FieldProblem[]): RowResult {
  return { problem: { code, message, ...(details && { details }) } }
}

/** The same key and rows give the same batch. */
async function issueBatch(
  deps: WorkerDeps,
  run: Run,
  { isStopped }: Pick<Work, 'isStopped'>,
): Promise<void> {
  const { batches, wait, newDeadline } = deps
  // It may have been stopped or removed while others had their turn.
  if (isStopped() || (await deps.store.find(run.id))?.state !== 'running') return
  const grant = await assertAllowed(deps, run)
  const answer = await batches.issue({
    body: linesOf(deps, run),
    ...requesterOf(grant),
    share: shareOf(grant),
    ...(grant.categories && { categories: grant.categories }),
    idempotencyKey: `run:${run.id}`,
    atomic: false,
    dryRun: false,
    wait,
    newDeadline,
    assertAllowed: async () => void (await assertAllowed(deps, run)),
  })
  try {
    const { outcome } = answer
    const results: { line: number; result: RowResult }[] = []
    for await (const one of answer.lines) {
      results.push({ line: one.line, result: resultOf(one, outcome) })
      if (results.length >= ROWS_A_TURN) await settle(deps, run, results.splice(0))
    }
    await settle(deps, run, results)
  } finally {
    await answer.close()
  }
}

type Answer = Awaited<ReturnType<Batches['issue']>>
type Line = Answer['lines'] extends AsyncGenerator<infer L> ? L : never

function resultOf(line: Line, outcome: Answer['outcome']): RowResult {
  if ('problems' in line) return problemOf('bad_fields', 'invalid fields', line.problems)
  if ('isErased' in line) return problemOf('erased', 'the document has been erased')
  const { publicId, documentHash } = line
  if (!('root' in outcome) || publicId === undefined || documentHash === undefined)
    return problemOf('batch_refused', 'the batch was not issued')
  return { publicId, documentHash, status: outcome.status, batchRoot: outcome.root }
}

async function settle(
  { store, sealer }: WorkerDeps,
  { id }: Run,
  results: readonly { line: number; result: RowResult }[],
): Promise<void> {
  await store.settle(
    id,
    results.map(({ line, result }) => ({
      line,
      result: sealer.seal(id, 'result', line, result),
    })),
  )
}

/** @throws {NotAllowed} when the run is removed meanwhile: half of its rows are no batch. */
async function* linesOf(
  { store, sealer }: WorkerDeps,
  { id, size }: Run,
): AsyncGenerator<Uint8Array> {
  for (let after = 0; ; ) {
    const rows = await store.rows(id, after, ROWS_A_TURN)
    const last = rows.at(-1)
    if (last === undefined && after < size) throw new NotAllowed('the run was removed')
    if (last === undefined) return
    const lines = rows.map(({ line, sealed }) =>
      JSON.stringify(sealer.open(id, 'row', line, sealed)),
    )
    yield encodeUtf8(`${lines.join('\n')}\n`)
    after = last.line
  }
}
