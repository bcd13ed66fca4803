import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Dialect, formatCsv, formatTable, PLAIN, parseCsv } from '../../cli/csv.ts'

const CELLS = [
  ['name', 'note'],
  ['Zoë', 'a;b,c\td "e"'],
  ['two\nlines', ' kept '],
]
/** Made of what begins formulas, what controls, and what undoes both. */
const hostile = fc
  .array(fc.constantFrom(...` '"=+-@,;\t\n\r\\\x1b\x9bA`, '\\u000d', "'="), { maxLength: 12 })
  .map((parts) => parts.join(''))
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

/** The lines of a table of one column. */
const written = (...texts: string[]) => {
  const rows = texts.map((publicId) => ({ publicId }))
  return formatTable(['publicId'], rows).toString().slice('publicId\n'.length)
}

test('behavior: an apostrophe goes in front of what a spreadsheet would run', () => {
  for (const formula of ['=1+1', '+1', '-1', '@A1', ' =1', '\t=1', '\tx', '\nx', "'=1"])
    expect(written(formula)).toMatch(/^"?'/)
  expect(written('\r=1')).toBe('\\u000d=1\n')
  // Where another country's spreadsheet sees a separator.
  expect(written('Ada;=1+1;,"=2')).toBe(`"Ada;'=1+1;,'""=2"\n`)
  const usual = ['Ada', "'t Hooft", "O'Neil", '2026-07-01', 'a=b', 'C:\\users', "'"]
  expect(written(...usual)).toBe(`${usual.join('\n')}\n`)
})

test('behavior: no piece of a line begins a formula, and none has control characters', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(written(text)).not.toMatch(/(?![\t\n])\p{Cc}/u)
      for (const piece of written(text).split(/[,;\t\n]/)) expect(piece).not.toMatch(/^[ "]*[=+@-]/)
    }),
  )
})

test('behavior: gives back what it wrote, names of columns too', () => {
  const table = fc
    .uniqueArray(hostile, { minLength: 2, maxLength: 5 })
    .chain((columns) => fc.tuple(fc.constant(columns), fc.tuple(...columns.map(() => hostile))))
  fc.assert(
    fc.property(table, fc.constantFrom(...DIALECTS), ([columns, row], dialect) => {
      const cells = { ...Object.fromEntries(columns.map((name, i) => [name, row[i]])), line: '2' }
      const read = parseCsv(formatTable(['line', ...columns], [cells], dialect))
      expect(read.columns).toEqual(['line', ...columns])
      expect(read.rows).toEqual([{ line: expect.any(Number), cells }])
    }),
    { numRuns: 2_000 },
  )
})

test('behavior: keeps the cells of a table that docreg did not write', () => {
  const own = "subjectName,subjectId\n'=1,\\u001b\n"
  const cells = { subjectName: "'=1", subjectId: '\\u001b' }
  expect(parseCsv(Buffer.from(own)).rows).toEqual([{ line: 2, cells }])
})
