import { asMeant, choicesOf } from './header.ts'
import { DATES, fieldNamed, withValues } from './rows.ts'
import {
  FOR_SPREADSHEETS,
  type Line,
  type Reading,
  type Row,
  type Table,
  TableError,
  tableOf,
} from './table.ts'
import { noWorkbook } from './xml.ts'

export const MAX_SHEETS = 1_000

export type Sheet = { name: string; isHidden: boolean }

/** @throws {TableError} */
export function tableOfSheets<S extends Sheet>(
  sheets: readonly S[],
  linesIn: (sheet: S) => Line[],
  { sheet: wanted, header: line }: Reading,
): Table {
  const names = sheets.map(({ name }) => name)
  const [sheet, lines] = chosen(sheets, linesIn, wanted)
  const choices = { ...choicesOf(lines, line), sheet: sheet.name, sheets: names }
  const [first, ...others] = lines.filter(({ line }) => line >= choices.header)
  const header = { line: choices.header, cells: first?.line === choices.header ? first.cells : [] }
  const width = others.reduce(
    (most, { cells }) => Math.max(most, cells.length),
    header.cells.length,
  )
  // Programs write no empty cells at the end of a row.
  const filled = others.map(({ cells, ...line }) => ({
    ...line,
    cells: [...cells, ...Array<string>(width - cells.length).fill('')],
  }))
  const table = tableOf(asMeant([header, ...filled]), FOR_SPREADSHEETS, choices, width)
  // Columns that are named so say what they are; about the others, whoever maps them decides.
  const fields = new Map(table.columns.map((column) => [column, fieldNamed(column) ?? '']))
  const cellsOf = (row: Row) => withValues(row, fields, (_, field) => DATES.includes(field))
  return { ...table, rows: table.rows.map((row) => ({ ...row, cells: cellsOf(row) })) }
}

/** @returns The sheet of this name; without one, the first that is visible and not empty. */
function chosen<S extends Sheet>(
  sheets: readonly S[],
  linesIn: (sheet: S) => Line[],
  wanted: string | undefined,
): [S, Line[]] {
  const visible = sheets.filter(({ isHidden }) => !isHidden)
  const usual = visible.length > 0 ? visible : sheets.slice(0, 1)
  const those = wanted === undefined ? usual : sheets.filter(({ name }) => name === wanted)
  let last: [S, Line[]] | undefined
  for (const sheet of those) {
    last = [sheet, linesIn(sheet)]
    if (last[1].length > 0) break
  }
  if (last !== undefined) return last
  if (wanted === undefined) throw noWorkbook()
  const names = sheets.map(({ name }) => `"${name}"`).join(', ')
  throw new TableError('no_columns', `there is no sheet "${wanted}" but ${names}`)
}
