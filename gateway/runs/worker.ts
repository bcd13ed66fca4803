import { createNap } from '#base/concurrency.ts'
import type { NewDeadline } from '#base/deadline.ts'
import { describeBug, type Log } from '#base/log.ts'
import type { Batches } from '#batches/batch.ts'
import { encodeUtf8 } from '#document/bytes.ts'
import type { DocumentFields } from '#document/document.ts'
import { mayIssue } from '#document/new-document.ts'
import { type Grant, requesterOf, shareOf } from '#keys/grant.ts'
import { IssueError, type IssueErrorCode } from '#promise/errors.ts'
import type { Issuing } from '#promise/issue.ts'
import type { Run, RunStore } from './ports.ts'
import type { RowSealer } from './rows.ts'
import type { RowResult } from './runs.ts'

/** The rows of one run that are under way at a time: two full transactions. */
export const ROWS_AT_A_TIME = 400
/** How often runs are looked for that another gateway has accepted. */
const LOOK_INTERVAL_MS = 1_000
/** The pause of a run after an outage. */
const RETRY_INTERVAL_MS = 5_000
/** How long rows and results are kept after the end of a run. */
const KEPT_MS = 86_400_000
const CLEAN_INTERVAL_MS = 60_000

/** Refusals of one document. After any other, the same row can be issued later. */
const OF_ROW: readonly IssueErrorCode[] = [
  'idempotency_key_reused',
  'conflict',
  'distrusted',
  'erased',
]

export type WorkerDeps = {
  store: RunStore
  sealer: RowSealer
  issuing: Issuing
  batches: Pick<Batches, 'issue'>
  /** The permissions that the owner of a run has now; `undefined` when there is no such owner. */
  grantOf(owner: string): Promise<Grant | undefined>
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

/**
 * Issues the rows of runs. A row has an Idempotency-Key of its own, so one that was under way when
 * a process was killed, or that two gateways issue at the same moment, is one document.
 */
export function createRunWorker(deps: WorkerDeps): RunWorker {
  const { store, log } = deps
  const nap = createNap()

  async function look(working: Map<string, Promise<void>>, isStopped: () => boolean) {
    for (const run of await store.running()) {
      if (working.has(run.id)) continue
      const done = work(deps, run, isStopped).finally(() => working.delete(run.id))
      working.set(run.id, done)
    }
  }

  async function clean(): Promise<void> {
    const runs = await store.removeBefore(Date.now() - KEPT_MS)
    if (runs > 0) log.info('runs_removed', { runs })
  }

  return {
    wake: nap.wake,
    start() {
      let isStopped = false
      const working = new Map<string, Promise<void>>()
      const everything = async () => {
        let cleanedAt = 0
        while (!isStopped) {
          try {
            await look(working, () => isStopped)
            if (Date.now() - cleanedAt > CLEAN_INTERVAL_MS) {
              cleanedAt = Date.now()
              await clean()
            }
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
async function work(deps: WorkerDeps, run: Run, isStopped: () => boolean): Promise<void> {
  const { store, log } = deps
  const end = (state: 'stopped' | 'done', reason: string | null) =>
    store.change(run.id, 'running', { state, reason, endedAt: Date.now() })
  try {
    if (run.mode === 'batch') await issueBatch(deps, run)
    else if (!(await issueRows(deps, run, isStopped))) return
    await end('done', null)
  } catch (error) {
    await handle(error).catch(() => {})
    const until = Date.now() + RETRY_INTERVAL_MS
    while (!isStopped() && Date.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 100))
  }

  async function handle(error: unknown): Promise<void> {
    if (error instanceof NotAllowed) await end('stopped', 'forbidden')
    else if (error instanceof IssueError)
      await store.change(run.id, 'running', {
        ...{ state: 'running', reason: error.code, endedAt: null },
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
  const mayIssueAny = grant?.scopes.some((scope) => ['documents:issue', 'admin'].includes(scope))
  if (grant && mayIssueAny && grant.tenant === run.tenant) return grant
  throw new NotAllowed('the owner of the run may not issue')
}

/** @returns Whether all rows have a result; otherwise it was stopped. */
async function issueRows(deps: WorkerDeps, run: Run, isStopped: () => boolean): Promise<boolean> {
  const { store, sealer } = deps
  const { id } = run
  while (!isStopped()) {
    if ((await store.find(id))?.state !== 'running') return false
    const grant = await assertAllowed(deps, run)
    const rows = await store.rows(id, 0, ROWS_AT_A_TIME, true)
    if (rows.length === 0) return true
    const outcomes = await Promise.allSettled(
      rows.map(async ({ line, sealed }) => {
        const fields = sealer.open(id, 'row', line, sealed) as DocumentFields
        const result = await issueRow(deps, grant, fields, `run:${id}:${line}`)
        await store.settle(id, [{ line, result: sealer.seal(id, 'result', line, result) }])
      }),
    )
    const failed = outcomes.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }
  return false
}

/** @throws {IssueError} for an outage. */
async function issueRow(
  { issuing, wait, newDeadline }: WorkerDeps,
  grant: Grant,
  fields: DocumentFields,
  idempotencyKey: string,
): Promise<RowResult> {
  if (!mayIssue(fields, grant.categories))
    return problemOf('category_not_allowed', 'the owner may not issue this category')
  try {
    const { publicId, documentHash, status } = await issuing.issue({
      ...{ fields, ...requesterOf(grant), idempotencyKey, wait },
      ...{ deadline: newDeadline(), finality: 'included' },
    })
    return { publicId, documentHash, status: status === 'pending' ? 'pending' : 'valid' }
  } catch (error) {
    if (error instanceof IssueError && OF_ROW.includes(error.code))
      return problemOf(error.code, error.message)
    throw error
  }
}

function problemOf(code: string, message: string, details?: readonly object[]): RowResult {
  return { problem: { code, message, ...(details && { details }) } }
}

/** The same key and rows give the same batch. */
async function issueBatch(deps: WorkerDeps, run: Run): Promise<void> {
  const { batches, wait, newDeadline } = deps
  const grant = await assertAllowed(deps, run)
  const answer = await batches.issue({
    ...{ body: linesOf(deps, run), ...requesterOf(grant), share: shareOf(grant) },
    ...(grant.categories && { categories: grant.categories }),
    ...{ idempotencyKey: `run:${run.id}`, atomic: false, dryRun: false, wait, newDeadline },
    assertAllowed: async () => void (await assertAllowed(deps, run)),
  })
  try {
    const { outcome } = answer
    const results: { line: number; result: RowResult }[] = []
    for await (const one of answer.lines) {
      results.push({ line: one.line, result: resultOf(one, outcome) })
      if (results.length >= ROWS_AT_A_TIME) await settle(deps, run, results.splice(0))
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

async function* linesOf({ store, sealer }: WorkerDeps, { id }: Run): AsyncGenerator<Uint8Array> {
  for (let after = 0; ; ) {
    const rows = await store.rows(id, after, ROWS_AT_A_TIME)
    const last = rows.at(-1)
    if (last === undefined) return
    const lines = rows.map(({ line, sealed }) =>
      JSON.stringify(sealer.open(id, 'row', line, sealed)),
    )
    yield encodeUtf8(`${lines.join('\n')}\n`)
    after = last.line
  }
}
