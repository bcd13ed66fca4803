import type { Client, Run } from '#client/index.ts'
import type { DocumentFields } from '#document/document.ts'
import { formatTable } from '#table/format.ts'
import { cellsOf, givenBack } from '#table/rows.ts'
import { FOR_SPREADSHEETS } from '#table/table.ts'
import { d } from '../i18n.ts'
import { wordsOf } from '../problems.ts'
import type { Name } from '../remembered.ts'
import type { NotPrinted } from './certificates.ts'
import { check, issuedCells, keepRun, newRun, type Result, type TableRun } from './run.ts'

/** Milliseconds between two looks at a run of the service. */
const LOOK_MS = 1_000
/** The rows of a page, of which the service gives a thousand at most. */
const PAGE = 1_000

/**
 * Gives the rows to the service, which issues them by itself, and follows it to the end. A table
 * that was given before is not given again.
 *
 * @param mayResume Whether a run that has stopped goes on.
 */
export async function issueRows(
  client: Client,
  run: TableRun,
  progress: () => void,
  mayResume: boolean,
): Promise<void> {
  run.isBusy = true
  run.isHalted = false
  delete run.trouble
  try {
    await follow(client, run, await beginOrFind(client, run, mayResume), progress)
  } catch (error) {
    run.trouble = wordsOf(error)
  } finally {
    run.isBusy = false
    run.isHalted = !run.isDone
    keepRun(run)
  }
}

async function beginOrFind(client: Client, run: TableRun, mayResume: boolean): Promise<Run> {
  if (run.runId !== undefined) {
    const path = { id: run.runId }
    return mayResume ? client.resumeRun({ path }) : client.retrieveRun({ path })
  }
  const begun = await client.beginRun({
    query: { mode: run.mode },
    body: (run.sent ?? []).map((index) => fieldsAt(run, index)),
    idempotencyKey: `desk:${run.id}`,
  })
  run.runId = begun.id
  keepRun(run)
  return begun
}

async function follow(client: Client, run: TableRun, begun: Run, progress: () => void) {
  const path = { id: begun.id }
  let now = begun
  while (now.state === 'running' || now.state === 'loading') {
    run.done = now.done
    run.isWaiting = now.reason !== null
    progress()
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    if (run.isLeft) return
    now = await client.retrieveRun({ path })
  }
  for await (const row of rowsOf(client, begun.id)) {
    const index = run.sent?.[row.line - 1]
    const result = resultOf(run, row)
    if (index !== undefined && result !== undefined) run.results[index] = result
  }
  run.isDone = now.state === 'done'
  if (now.reason === 'forbidden') run.trouble = d('table.forbidden')
}

type RunRow = Awaited<ReturnType<Client['retrieveRunRows']>>['rows'][number]

async function* rowsOf(client: Client, id: string): AsyncGenerator<RunRow> {
  for (let after = 0; ; ) {
    const query = { limit: PAGE, after: String(after) }
    const { rows } = await client.retrieveRunRows({ path: { id }, query })
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = last.line
  }
}

function resultOf(run: TableRun, { issued, problem }: RunRow): Result | undefined {
  if (problem !== null) return { problem: problemOf(problem) }
  if (issued === null) return undefined
  const { verifyUrl, ...result } = issued
  run.link ??= verifyUrl.replace(issued.publicId, '{}')
  return result
}

/** Opens a run that the service has, also one that was begun in another window. */
export async function openRun(client: Client, { id, mode, state, createdAt }: Run) {
  const found: RunRow[] = []
  for await (const row of rowsOf(client, id)) found.push(row)
  const rows = found.map(({ line, document }) => ({ line: line + 1, cells: cellsOf(document) }))
  const columns = [...new Set(rows.flatMap(({ cells }) => Object.keys(cells)))]
  const run = newRun(createdAt, { columns, rows, dialect: FOR_SPREADSHEETS })
  run.mode = mode
  run.runId = id
  run.sent = rows.map((_, index) => index)
  run.isDone = state === 'done'
  for (const [index, row] of found.entries()) {
    const result = resultOf(run, row)
    if (result !== undefined) run.results[index] = result
  }
  return run
}

function fieldsAt(run: TableRun, index: number): DocumentFields {
  const fields = check(run).good.get(index)
  if (fields === undefined) throw new Error('a row that was not checked')
  return fields
}

function problemOf({ code, message, details = [] }: NonNullable<RunRow['problem']>): string {
  const fields = details.map((one) => `${one.field} ${one.message}`)
  return fields.length > 0 ? fields.join('; ') : `${code}: ${message}`
}

/** Asks what the rows would cost, and how long they would take. Amounts are in wei. */
export async function quote(client: Client, run: TableRun): Promise<void> {
  const lines = client.issueBatch({
    query: { dry_run: 'true' },
    body: [...check(run).good.values()],
    idempotencyKey: `desk:${run.id}:cost`,
  })
  for await (const line of lines)
    if (line.success && 'batch' in line.data) {
      const { grouped, seconds } = line.data.unbatched
      run.cost = { ...line.data.batch, single: grouped, singleSeconds: seconds }
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

/** @returns Who has a document by now. */
export function namesIn(run: TableRun): Name[] {
  return (run.sent ?? []).flatMap((index) => {
    const result = run.results[index]
    const fields = check(run).good.get(index)
    if (result === undefined || 'problem' in result || fields === undefined) return []
    const { subjectName, subjectId } = fields
    return [{ subjectName, subjectId, documentHash: result.documentHash }]
  })
}

/** @returns The issued rows as a table, with the columns of `docreg issue`. */
export function issuedTable(run: TableRun): Uint8Array {
  return issuedRows(run, ({ batchRoot, ...result }) => ({
    ...result,
    verifyUrl: linkOf(run, result.publicId),
    ...(batchRoot !== undefined && { batchRoot }),
  }))
}

/** @returns The rows without a certificate as a table, with the reason. */
export function notPrintedTable(run: TableRun, notPrinted: NotPrinted): Uint8Array {
  return issuedRows(run, ({ documentHash }) => {
    const problem = notPrinted[documentHash]
    return problem !== undefined && { documentHash, problem }
  })
}

/** @param cells The cells of a row besides those of its document; `false` = it is left out. */
function issuedRows(
  run: TableRun,
  cells: (result: Extract<Result, { publicId: string }>) => Record<string, string> | false,
): Uint8Array {
  const rows = (run.sent ?? []).flatMap((index) => {
    const result = run.results[index]
    const more = result !== undefined && 'publicId' in result && cells(result)
    const line = String(run.rows[index]?.line ?? '')
    return more ? [{ line, ...cellsOf(check(run).good.get(index)), ...more }] : []
  })
  return tableOf(rows, run)
}

/** @returns The rows that were not issued as a table, with the reason. */
export function failedTable(run: TableRun): Uint8Array {
  const { bad } = check(run)
  const cellsIn = issuedCells(run)
  const rows = failedRows(run).map((index) => {
    const row = run.rows[index] ?? { line: 0, cells: {} }
    const result = run.results[index]
    const problems = (bad.get(index) ?? []).map(({ field, message }) =>
      `${field} ${message}`.trim(),
    )
    const problem = result && 'problem' in result ? result.problem : problems.join('; ')
    return { line: String(row.line), problem, ...givenBack(cellsIn(row), row.notes) }
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
