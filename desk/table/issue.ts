import { CallError, type Client } from '#client/index.ts'
import type { DocumentFields } from '#document/document.ts'
import { formatTable } from '#table/csv.ts'
import { cellsOf } from '#table/rows.ts'
import { keyOf } from '../fields.ts'
import { isUnknown, wordsOf } from '../problems.ts'
import { check, keepRun, type Result, type TableRun, unanswered } from './run.ts'

/** Browsers open at most six connections to a host. */
const CONCURRENCY = 5
/** Milliseconds between two times that the results are kept. */
const KEEP_MS = 1_000

/** Issues the rows that have no answer yet. A row that was sent before gives the same document. */
export async function issueRows(
  client: Client,
  run: TableRun,
  progress: () => void,
): Promise<void> {
  run.isBusy = true
  run.isStopped = false
  delete run.trouble
  let keptAt = Date.now()
  const answered = (index: number, result: Result) => {
    run.results[index] = result
    if (Date.now() - keptAt > KEEP_MS) {
      keepRun(run)
      keptAt = Date.now()
    }
    progress()
  }
  try {
    if (run.mode === 'batch') await asBatch(client, run, answered)
    else await oneByOne(client, run, answered)
    run.isDone = unanswered(run).length === 0
  } catch (error) {
    run.trouble = wordsOf(error)
  } finally {
    run.isBusy = false
    keepRun(run)
  }
}

type Answered = (index: number, result: Result) => void

/** A batch is always sent as a whole, so that the same key is the same batch. */
async function asBatch(client: Client, run: TableRun, answered: Answered): Promise<void> {
  const { sent = [] } = run
  const lines = client.issueBatch({
    body: sent.map((index) => fieldsAt(run, index)),
    idempotencyKey: `desk:${run.id}:batch`,
  })
  for await (const line of lines) {
    const index = sent[line.line - 1] ?? -1
    if (!line.success) answered(index, { problem: problemOf(line.error) })
    else if ('publicId' in line.data) {
      const { publicId, documentHash, status, batchRoot, verifyUrl } = line.data
      run.link ??= verifyUrl.replace(publicId, '{}')
      answered(index, { publicId, documentHash, status, batchRoot })
    }
  }
}

async function oneByOne(client: Client, run: TableRun, answered: Answered): Promise<void> {
  const left = unanswered(run)
  const next = async () => {
    for (let index = left.shift(); index !== undefined; index = left.shift()) {
      if (run.isStopped) return
      answered(index, await issueOne(client, run, index))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, next)).finally(() => {
    left.length = 0
  })
}

/** @throws {CallError} for what is no fault of the row, such as an outage. */
async function issueOne(client: Client, run: TableRun, index: number): Promise<Result> {
  const fields = fieldsAt(run, index)
  try {
    const issued = await client.issueDocument({
      body: fields,
      idempotencyKey: keyOf(run.id, fields),
    })
    const { publicId, documentHash, status, verifyUrl } = issued
    run.link ??= verifyUrl.replace(publicId, '{}')
    return { publicId, documentHash, status }
  } catch (error) {
    const isOfRow = error instanceof CallError && !isUnknown(error) && error.status !== 401
    if (!isOfRow) throw error
    return { problem: problemOf(error) }
  }
}

function fieldsAt(run: TableRun, index: number): DocumentFields {
  const fields = check(run).good.get(index)
  if (fields === undefined) throw new Error('a row that was not checked')
  return fields
}

function problemOf({ code, message, details = [] }: { code: string } & Details): string {
  const fields = details.map((one) => ('field' in one ? `${one.field} ${one.message}` : one.code))
  return fields.length > 0 ? fields.join('; ') : `${code}: ${message}`
}
type Details = Pick<CallError, 'message'> & { details?: CallError['details'] }

/** Asks what the rows would cost as a batch. Amounts are in wei. */
export async function quote(client: Client, run: TableRun): Promise<void> {
  const lines = client.issueBatch({
    query: { dry_run: 'true' },
    body: [...check(run).good.values()],
    idempotencyKey: `desk:${run.id}:cost`,
  })
  for await (const line of lines)
    if (line.success && 'batch' in line.data) {
      run.cost = line.data.batch
      return
    }
}

/** Looks whether what was promised is in a block by now. */
export async function refresh(client: Client, run: TableRun): Promise<void> {
  const roots = new Map<string, string>()
  for (const result of Object.values(run.results)) {
    if (!('publicId' in result) || result.status !== 'pending') continue
    const { batchRoot, documentHash } = result
    if (batchRoot === undefined) {
      const now = await client.retrieveDocument({ path: { publicId: documentHash } })
      result.status = now.status
    } else {
      if (!roots.has(batchRoot)) {
        const { status } = await client.retrieveBatch({ path: { root: batchRoot } })
        roots.set(batchRoot, status)
      }
      result.status = roots.get(batchRoot) ?? result.status
    }
  }
  keepRun(run)
}

export function linkOf({ link = '' }: TableRun, publicId: string): string {
  return link.replace('{}', publicId)
}

/** @returns The issued rows as a table, with the columns of `docreg issue`. */
export function issuedTable(run: TableRun): Uint8Array {
  const rows = (run.sent ?? []).flatMap((index) => {
    const result = run.results[index]
    if (result === undefined || 'problem' in result) return []
    const { publicId, documentHash, status, batchRoot } = result
    return [
      {
        line: String(run.rows[index]?.line ?? ''),
        ...cellsOf(check(run).good.get(index)),
        ...{ publicId, documentHash, status, verifyUrl: linkOf(run, publicId) },
        ...(batchRoot !== undefined && { batchRoot }),
      },
    ]
  })
  return tableOf(rows, run)
}

/** @returns The rows that were not issued as a table, with the reason. */
export function failedTable(run: TableRun): Uint8Array {
  const { bad } = check(run)
  const rows = failedRows(run).map((index) => {
    const { line = 0, cells = {} } = run.rows[index] ?? {}
    const result = run.results[index]
    const problems = (bad.get(index) ?? []).map(({ field, message }) =>
      `${field} ${message}`.trim(),
    )
    const problem = result && 'problem' in result ? result.problem : problems.join('; ')
    return { line: String(line), problem, ...cells }
  })
  return tableOf(rows, run)
}

/** @returns The rows that were not issued, by index. */
export function failedRows(run: TableRun): number[] {
  const sent = new Set(run.sent)
  return run.rows.flatMap((_, index) => {
    const result = run.results[index]
    if (result !== undefined) return 'problem' in result ? [index] : []
    return sent.has(index) ? [] : [index]
  })
}

function tableOf(rows: Record<string, string>[], { dialect }: TableRun): Uint8Array {
  const columns = [...new Set(['line', ...rows.flatMap((row) => Object.keys(row))])]
  return formatTable(columns, rows, dialect)
}
