import type { Shown } from './shown.ts'
import { type Line, MAX_ROWS, TableError } from './table.ts'

const MAX_COLUMNS = 500
/** The maximum cells that are read, also empty ones. */
const MAX_CELLS = 3_000_000
/** The maximum cells of all merged ranges. */
const MAX_MERGED = 1_000_000

/** A place in a sheet, from 0. */
export type Place = { row: number; column: number }

/** The cells of a sheet while they are read. */
export type Grid = {
  /** @param shown Absent for an empty cell. */
  put(place: Place, shown?: () => Shown): void
  merge(from: Place, to: Place): void
  /** @returns The rows that are not empty, by their numbers in the sheet, from 1. */
  lines(): Line[]
}

/** How many cells may still be read. Sheets that are read together share it. */
export const fullBudget = () => ({ cells: MAX_CELLS, merged: MAX_MERGED })

/** Its methods throw a {@link TableError} for more than tables have. */
export function createGrid(left = fullBudget()): Grid {
  const rows = new Map<number, Shown[]>()
  const merged: { from: Place; to: Place }[] = []

  return {
    put({ row, column }, shown) {
      if (row > MAX_ROWS * 2)
        throw new TableError('too_many_rows', `more than ${MAX_ROWS} rows: split the file`)
      if (--left.cells < 0 || !(row >= 0 && column < MAX_COLUMNS)) throw tooLarge()
      const cell = shown?.()
      if (!cell || (cell.text === '' && !cell.note)) return
      const found = rows.get(row) ?? []
      found[column] = cell
      rows.set(row, found)
    },
    merge(from, to) {
      left.merged -= (to.row - from.row + 1) * (to.column - from.column + 1)
      if (left.merged < 0)
        throw new TableError(
          'too_many_merged',
          `more than ${MAX_MERGED} cells are merged: undo it in the spreadsheet`,
        )
      merged.push({ from, to })
    },
    lines() {
      for (const range of merged) fill(rows, range)
      return [...rows]
        .toSorted(([a], [b]) => a - b)
        .map(([row, cells]) => ({
          line: row + 1,
          cells: Array.from(cells, (cell) => cell?.text ?? ''),
          notes: Array.from(cells, (cell) => cell?.note),
        }))
        .filter(({ cells, notes }) => cells.some((text, i) => text !== '' || notes[i]))
    },
  }
}

/** Gives each cell of a merged range what its first one has. */
function fill(rows: ReadonlyMap<number, Shown[]>, { from, to }: { from: Place; to: Place }): void {
  const first = rows.get(from.row)?.[from.column] ?? { text: '' }
  const last = Math.min(to.column, MAX_COLUMNS - 1)
  for (let row = from.row; row <= to.row; row++) {
    const cells = rows.get(row)
    for (let column = from.column; cells && column <= last; column++) cells[column] = first
  }
}

export const tooLarge = () => new TableError('workbook_too_large', 'the workbook is too large')
