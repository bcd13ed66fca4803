import { expect, test } from 'vitest'
import { type Dialect, formatCsv, PLAIN, parseCsv } from '../../cli/csv.ts'

const CELLS = [
  ['name', 'note'],
  ['Zoë', 'a;b,c\td "e"'],
  ['two\nlines', ' kept '],
]
const DIALECTS: Dialect[] = [
  PLAIN,
  { delimiter: ';', lineEnd: '\r\n', encoding: 'utf-8', hasMark: true },
  { delimiter: '\t', lineEnd: '\r\n', encoding: 'utf-16le', hasMark: true },
]

test('behavior: reads the dialect that a table was written in, and its cells', () => {
  for (const dialect of DIALECTS) {
    const { columns, rows, dialect: read } = parseCsv(formatCsv(CELLS, dialect))
    expect(read).toEqual(dialect)
    expect([columns, ...rows.map(({ cells }) => Object.values(cells))]).toEqual(CELLS)
  }
})
