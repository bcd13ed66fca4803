import { type DocumentFields, today } from '#document/document.ts'
import type { FieldProblem } from '#document/errors.ts'
import { PLAIN_FIELDS } from '#document/kind.ts'
import {
  cellProblems,
  checkRows,
  DATES,
  type DateOrder,
  documentOf,
  doubtfulIn,
  fieldNamed,
  fieldOfKind,
  LOCAL_DATE,
  namedByKinds,
  withDates,
  withoutMidnight,
  withValues,
} from '#table/rows.ts'
import { type Choices, type Dialect, FOR_SPREADSHEETS, type Row, type Table } from '#table/table.ts'
import { t } from '#web/i18n.ts'
import { newId, withPoint } from '../fields.ts'
import { forget, keep, kept } from '../kept.ts'
import { allKinds, fieldOf, kindOf } from '../kinds.ts'
import type { NotPrinted } from './certificates.ts'
import type { Asked } from './reader.ts'

/** What became of a row. */
export type Result =
  | { publicId: string; documentHash: string; status: string; batchRoot?: string }
  | { problem: string }

/** A table, what its columns mean, and what was issued of it. */
export type TableRun = {
  /** Part of the Idempotency-Keys. */
  id: string
  name: string
  columns: string[]
  rows: Row[]
  dialect: Dialect
  /** The field of each column; empty = left out, absent = not decided. */
  map: Record<string, string>
  /** Values for all rows, of fields that have no column. */
  set: Record<string, string>
  dates?: DateOrder
  /** Whether a column of a workbook has what its cells show, or the numbers that they hold. */
  shown: Record<string, 'text' | 'value'>
  mode: 'batch' | 'single'
  /** The rows that are issued, by index. From then on the table does not change. */
  sent?: number[]
  /** By the index of the row. */
  results: Record<number, Result>
  /** The address of the verify page, with `{}` in place of the publicId. */
  link?: string
  /** Whether every row that was sent has its answer. */
  isDone: boolean

  /** The run of the service that issues the rows. */
  runId?: string

  // What follows is not kept.
  /** The file of the table, to read it in another way. */
  asked?: Asked
  choices?: Choices | undefined
  isBusy: boolean
  /** Whether nobody follows it, since it has stopped or the service did not answer. */
  isHalted: boolean
  /** Whether the person has signed out. */
  isLeft?: boolean
  /** Whose certificates are missing from the last ZIP. */
  notPrinted?: NotPrinted
  /** How many rows the service has issued. */
  done?: number
  /** Whether the service cannot issue at the moment. */
  isWaiting?: boolean
  /** Whether the browser could keep the table. */
  isKept: boolean
  trouble?: string
  /** In wei: all together, and one by one; and the seconds that they take. */
  cost?: { fee: string; maxFee: string; single: string; seconds: number; singleSeconds: number }
  page: number
  isFiltered: boolean
  checked?: Checked
}

export type Checked = {
  /** The document of each good row, by its index. */
  good: Map<number, DocumentFields>
  bad: Map<number, FieldProblem[]>
}

/** Fields that a table without such a column may give to all rows. */
export const SETTABLE = ['category', 'issuedAt', 'expiresAt'] as const

const NAME = 'table'

export function newRun(name: string, { columns, rows, dialect }: Table): TableRun {
  const map = Object.fromEntries(
    columns.flatMap((column) => {
      const field = fieldNamed(column) ?? labelled(column) ?? namedByKinds(column, allKinds())
      return field === undefined ? [] : [[column, field]]
    }),
  )
  const fields = Object.values(map)
  const run: TableRun = {
    id: newId(),
    name,
    columns,
    rows,
    dialect: dialect.delimiter === '\t' ? FOR_SPREADSHEETS : { ...dialect, hasMark: true },
    // A field has one column. Which of two it is, the person decides.
    map: Object.fromEntries(
      Object.entries(map).filter(
        ([, field]) => fields.indexOf(field) === fields.lastIndexOf(field),
      ),
    ),
    set: { category: '', issuedAt: today(), expiresAt: '' },
    shown: {},
    mode: rows.length > 1 ? 'batch' : 'single',
    results: {},
    isDone: false,
    isBusy: false,
    isHalted: false,
    isKept: true,
    page: 0,
    isFiltered: false,
  }
  const order = orderOfDates(run)
  return order === undefined ? run : { ...run, dates: order }
}

/** @returns The field that has this label in the page's language. */
function labelled(column: string): string | undefined {
  const name = column.trim().toLowerCase()
  return PLAIN_FIELDS.find((field) => t(`document.${field}`).toLowerCase() === name)
}

/** @returns The category of all rows; empty if they differ, or it is not known. */
export function categoryIn({ rows, columns, map, set }: TableRun): string {
  const column = columns.find((one) => map[one] === 'category')
  if (column === undefined) return set.category ?? ''
  const [first = '', ...others] = new Set(rows.map(({ cells }) => cells[column] ?? ''))
  return others.length === 0 ? first : ''
}

/** Once the kind is known, it may name columns that nobody has decided about. */
export function decideByKind(run: TableRun): void {
  const kind = kindOf(categoryIn(run))
  if (!kind) return
  for (const column of undecided(run)) {
    const field = fieldOfKind(column, kind)
    if (field !== undefined && !Object.values(run.map).includes(field)) run.map[column] = field
  }
  const order = orderOfDates(run)
  if (run.dates === undefined && order !== undefined) run.dates = order
}

/** @returns Whether a field of the table holds a date. */
export function isDate(field: string, category: string): boolean {
  return DATES.includes(field) || fieldOf(field, category)?.type === 'date'
}

/** @returns The only order that fits all dates with three numbers; `undefined` if both do. */
function orderOfDates(run: TableRun): DateOrder | undefined {
  const { rows, columns, map } = run
  const category = categoryIn(run)
  const dated = columns.filter((column) => isDate(map[column] ?? '', category))
  const dates = rows.flatMap(({ cells }) =>
    dated.flatMap((column) => {
      const [, first, second] = LOCAL_DATE.exec(withoutMidnight(cells[column] ?? '')) ?? []
      return first === undefined ? [] : [[Number(first), Number(second)] as const]
    }),
  )
  if (dates.some(([first]) => first > 12)) return 'dmy'
  return dates.some(([, second]) => second > 12) ? 'mdy' : undefined
}

/** @returns The columns that nobody has decided about. */
export function undecided({ columns, map }: TableRun): string[] {
  return columns.filter((column) => map[column] === undefined)
}

/** @returns An example of each column of which a person says what is issued of it. */
export function doubtful(run: TableRun): Map<string, { text: string; value: string }> {
  const category = categoryIn(run)
  return doubtfulIn(run.rows, fieldsOf(run), (field, text, value) => {
    const isNumber = fieldOf(field, category)?.type === 'number'
    return isDate(field, category) || (isNumber && withPoint(text) === value)
  })
}

/** @returns The columns about which a person has not said that yet. */
export function unshown(run: TableRun): string[] {
  return [...doubtful(run).keys()].filter((column) => run.shown[column] === undefined)
}

/** @returns What gives the cells of a row as they are issued. */
export function issuedCells(run: TableRun): (row: Row) => Row['cells'] {
  const fields = fieldsOf(run)
  const category = categoryIn(run)
  return (row) =>
    withValues(
      row,
      fields,
      (column, field) => isDate(field, category) || run.shown[column] === 'value',
    )
}

/** @returns Fields that more than one column holds. */
export function repeated({ map }: TableRun): string[] {
  const fields = Object.values(map).filter((field) => field !== '')
  return fields.filter((field, i) => fields.indexOf(field) !== i)
}

/** @returns The columns that hold a field, with it. */
export function fieldsOf({ columns, map }: TableRun): Map<string, string> {
  return new Map(columns.flatMap((column) => (map[column] ? [[column, map[column]]] : [])))
}

/** Checks every row with the rules of the service, unless nothing has changed. */
export function check(run: TableRun): Checked {
  run.checked ??= checkNow(run)
  return run.checked
}

function checkNow(run: TableRun): Checked {
  const fields = fieldsOf(run)
  const taken = new Set(fields.values())
  const set = new Map(
    Object.entries(run.set).filter(([field, text]) => text !== '' && !taken.has(field)),
  )
  const category = categoryIn(run)
  const cellsOf = issuedCells(run)
  const sent = run.rows.map((row) => {
    const cells = cellsOf(row)
    const dated = withDates(cells, fields, run.dates, (field) => isDate(field, category))
    const value = documentOf(withPoints(dated, fields, category), fields, set)
    return { line: row.line, cells, value, problems: cellProblems(row, fields) }
  })
  const indexes = new Map(run.rows.map(({ line }, i) => [line, i]))
  const at = (line: number) => indexes.get(line) ?? -1
  const { good, bad } = checkRows(sent, Date.now(), kindOf)
  return {
    good: new Map(good.map(({ line, fields }) => [at(line), fields])),
    bad: new Map(bad.map(({ line, problems }) => [at(line), problems])),
  }
}

/** @returns The cells with numbers as a kind wants them: many countries write a comma. */
function withPoints(
  cells: Row['cells'],
  fields: ReadonlyMap<string, string>,
  category: string,
): Row['cells'] {
  const numbers = [...fields].filter(([, field]) => fieldOf(field, category)?.type === 'number')
  const changed = numbers.map(([column]) => [column, withPoint(cells[column] ?? '')] as const)
  return { ...cells, ...Object.fromEntries(changed) }
}

/** Remembers a change, and that the rows have to be checked again. */
export function changed(run: TableRun): void {
  delete run.checked
  delete run.cost
  keepRun(run)
}

export function keepRun(run: TableRun): void {
  const { isBusy, isHalted, isLeft, done, isWaiting, notPrinted, ...most } = run
  const { isKept, trouble, cost, page, isFiltered, checked, asked, choices, ...rest } = most
  const rows = run.rows.map(({ line, cells }) => [line, ...run.columns.map((name) => cells[name])])
  const notes = run.rows.flatMap(({ notes }, i) => (notes ? [[i, notes]] : []))
  run.isKept = keep(NAME, { ...rest, rows, notes: Object.fromEntries(notes) })
}

export function forgetTable(): void {
  forget(NAME)
}

export function keptTable(): TableRun | undefined {
  const found = kept<
    Omit<TableRun, 'rows'> & {
      rows: [number, ...string[]][]
      notes: Record<number, NonNullable<Row['notes']>>
    }
  >(NAME)
  if (found === undefined) return undefined
  const { notes, ...run } = found
  const rows = found.rows.map(([line, ...cells], i) => ({
    line,
    cells: Object.fromEntries(found.columns.map((name, i) => [name, cells[i] ?? ''])),
    ...(notes[i] && { notes: notes[i] }),
  }))
  return {
    ...run,
    rows,
    isBusy: false,
    isHalted: false,
    isKept: true,
    page: 0,
    isFiltered: false,
  }
}

/** The rows that were sent and have no answer yet, by index. */
export function unanswered({ sent = [], results }: TableRun): number[] {
  return sent.filter((index) => results[index] === undefined)
}
