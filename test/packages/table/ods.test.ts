import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { parseWorkbook } from '#table/workbook.ts'

/** @returns A spreadsheet with these tables, as LibreOffice writes them. */
const bookOf = (tables: string, styles = '') =>
  zipSync({
    'content.xml': strToU8(
      `<office:document-content><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:spreadsheet>${tables}</office:spreadsheet></office:body></office:document-content>`,
    ),
  })
const tableOf = (rows: string, attributes = 'table:name="a"') =>
  `<table:table ${attributes}><table:table-column table:number-columns-repeated="16384"/>${rows}</table:table>`
const rowOf = (...cells: string[]) => `<table:table-row>${cells.join('')}</table:table-row>`
const cell = (text: string, attributes = 'office:value-type="string"') =>
  `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`
/** @returns The cell below the column `a`, and what else there is to say about it. */
const shown = (one: string) => {
  const { rows } = parseWorkbook(bookOf(tableOf(rowOf(cell('a')) + rowOf(one))))
  return [rows[0]?.cells.a, rows[0]?.notes?.a]
}

test('reads what odfpy writes', () => {
  const bytes = readFileSync(join(import.meta.dirname, 'workbooks', 'odfpy.ods'))
  const { columns, rows, choices } = parseWorkbook(bytes)
  expect(columns).toEqual(['Full name', 'Student no', 'Degree', 'Date of issue', 'Grade'])
  expect(rows).toEqual([
    {
      line: 4,
      cells: {
        'Full name': 'Ada “Lovelace” & <Co>',
        'Student no': '18,151,210',
        Degree: 'BSc',
        'Date of issue': '2026-07-31',
        Grade: '1,30',
      },
      notes: { 'Student no': { value: '18151210' }, Grade: { value: '1.3' } },
    },
    {
      line: 5,
      cells: {
        'Full name': 'Zoë 王\nsecond line',
        'Student no': '42',
        Degree: 'BSc',
        'Date of issue': 'August 2026',
        Grade: '2',
      },
      notes: { 'Date of issue': { value: '2026-08-01' } },
    },
  ])
  expect(choices).toMatchObject({ sheet: 'Graduates', header: 3 })
})

const date = (value: string) => `office:value-type="date" office:date-value="${value}"`
const float = (value: string) => `office:value-type="float" office:value="${value}"`
test.each([
  ['a day', cell('31.01.26', date('2026-01-31')), '2026-01-31', undefined],
  ['a day at midnight', cell('1/31/2026', date('2026-01-31T00:00:00')), '2026-01-31', undefined],
  [
    'a day with its time',
    cell('31.01.2026 10:30', date('2026-01-31T10:30:00')),
    '2026-01-31 10:30:00',
    { value: '2026-01-31' },
  ],
  ['a month', cell('Jan 26', date('2026-01-26')), 'Jan 26', { value: '2026-01-26' }],
  [
    'a day without its year',
    cell('26. Jan', date('2026-01-26')),
    '26. Jan',
    { value: '2026-01-26' },
  ],
  ['a percentage', cell('95 %', float('0.95')), '95 %', { value: '0.95' }],
  ['a number', cell('1.3', float('1.3')), '1.3', undefined],
  [
    'a number of too many digits',
    cell('12345678901234500', float('12345678901234500')),
    '12345678901234500',
    { problem: 'digits_lost' },
  ],
  [
    'a truth',
    cell('WAHR', 'office:value-type="boolean" office:boolean-value="true"'),
    'TRUE',
    undefined,
  ],
  [
    'an error',
    cell('#N/A', 'table:formula="of:=NA()" office:value-type="string" calcext:value-type="error"'),
    '#N/A',
    { problem: 'no_result' },
  ],
  [
    'an error of an older program',
    cell('Err:502', 'table:formula="of:=X()" office:value-type="float" office:value="0"'),
    'Err:502',
    { problem: 'no_result' },
  ],
  [
    'a formula without its result',
    '<table:table-cell table:formula="of:=1"/>',
    '',
    { problem: 'no_result' },
  ],
  [
    'a text with spaces, tags and a comment',
    '<table:table-cell><office:annotation><text:p>see me</text:p></office:annotation><text:p>A<text:s text:c="2"/><text:span>d</text:span>a</text:p><text:p>King</text:p></table:table-cell>',
    'A  da\nKing',
    undefined,
  ],
])('reads %s', (_, one, text, note) => {
  expect(shown(one)).toEqual([text, note])
})

test('repeats cells, fills merged ones, and leaves out hidden sheets and empty ends', () => {
  const hidden =
    '<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>'
  const rows = [
    rowOf(
      cell('a'),
      cell('b'),
      cell('c'),
      '<table:table-cell table:number-columns-repeated="16381"/>',
    ),
    rowOf(
      cell('x', 'table:number-columns-repeated="2"'),
      cell('y', 'table:number-rows-spanned="2" table:number-columns-spanned="1"'),
    ),
    `<table:table-row table:number-rows-repeated="2">${cell('z')}<table:table-cell/><table:covered-table-cell><text:p>old</text:p></table:covered-table-cell></table:table-row>`,
    '<table:table-row table:number-rows-repeated="1048571"><table:table-cell/></table:table-row>',
  ]
  const book = bookOf(
    tableOf(rowOf(cell('secret')), 'table:name="h" table:style-name="ta2"') +
      tableOf(rows.join('')),
    hidden,
  )
  const { rows: found, choices } = parseWorkbook(book)
  expect(choices).toMatchObject({ sheet: 'a', sheets: ['h', 'a'] })
  expect(found.map(({ line, cells }) => [line, ...Object.values(cells)])).toEqual([
    [2, 'x', 'x', 'y'],
    [3, 'z', '', 'y'],
    [4, 'z', '', ''],
  ])
})

test.each([
  [
    'rows',
    `<table:table-row table:number-rows-repeated="1048576">${cell('x')}</table:table-row>`,
    'too_many_rows',
  ],
  ['columns', rowOf(cell('x', 'table:number-columns-repeated="16384"')), 'workbook_too_large'],
  [
    'merged cells',
    rowOf(cell('x', 'table:number-rows-spanned="1048576" table:number-columns-spanned="9"')),
    'too_many_merged',
  ],
  ['strange counts', rowOf(cell('x', 'table:number-columns-repeated="-1"')), 'no_workbook'],
])('refuses too many %s', (_, rows, problem) => {
  expect(() => parseWorkbook(bookOf(tableOf(rows)))).toThrow(expect.objectContaining({ problem }))
})

test('refuses many cells in several sheets quickly', () => {
  const many = `<table:table-row table:number-rows-repeated="9000">${cell('x', 'table:number-columns-repeated="40"')}</table:table-row>`
  const begun = Date.now()
  expect(() => parseWorkbook(bookOf(tableOf(many).repeat(9)))).toThrow(/too large/)
  expect(Date.now() - begun).toBeLessThan(20_000)
})

test('a text document is no workbook', () => {
  expect(() => parseWorkbook(bookOf('<text:p>Hello</text:p>'))).toThrow(/not a workbook/)
})
