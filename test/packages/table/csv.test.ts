import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readTable } from '#cli/csv.ts'
import { decodeText, parseCsv } from '#table/csv.ts'
import { formatCsv, formatTable, tableText } from '#table/format.ts'
import { type Dialect, PLAIN, type TableError } from '#table/table.ts'

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

test('reads the dialect of a table, and its cells', () => {
  for (const dialect of DIALECTS) {
    const { columns, rows, dialect: read } = parseCsv(formatCsv(CELLS, dialect))
    expect(read).toEqual(dialect)
    expect([columns, ...rows.map(({ cells }) => Object.values(cells))]).toEqual(CELLS)
  }
})

/** The lines of a table of one column. */
const written = (...texts: string[]) => {
  const rows = texts.map((publicId) => ({ publicId }))
  return tableText(['publicId'], rows).slice('publicId\n'.length)
}

test('puts an apostrophe before what a spreadsheet would execute', () => {
  for (const formula of ['=1+1', '+1', '-1', '@A1', ' =1', '\t=1', '\tx', '\nx', "'=1"])
    expect(written(formula)).toMatch(/^"?'/)
  expect(written('\r=1')).toBe('\\u000d=1\n')
  // Where another country's spreadsheet sees a separator.
  expect(written('Ada;=1+1;,"=2')).toBe(`"Ada;'=1+1;,'""=2"\n`)
  const usual = ['Ada', "'t Hooft", "O'Neil", '2026-07-01', 'a=b', 'C:\\users', "'"]
  expect(written(...usual)).toBe(`${usual.join('\n')}\n`)
})

test('no part of a line begins a formula or has control characters', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(written(text)).not.toMatch(/(?![\t\n])\p{Cc}/u)
      for (const piece of written(text).split(/[,;\t\n]/)) expect(piece).not.toMatch(/^[ "]*[=+@-]/)
    }),
  )
})

test('reads what it wrote, including column names', () => {
  const table = fc
    .uniqueArray(
      hostile.filter((name) => name !== ''),
      { minLength: 2, maxLength: 5 },
    )
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

test('omits columns at the end that are empty in all rows', () => {
  const read = (text: string) => parseCsv(Buffer.from(text))
  const expected = { columns: ['a', 'b'], rows: [{ line: 2, cells: { a: '1', b: '' } }] }
  expect(read('a;b;;\n1;;;\n')).toMatchObject(expected)
  expect(read('a;b\n1;;;; \n')).toMatchObject(expected)
  expect(read('a;b;;\n1;\n')).toMatchObject(expected)
  for (const text of ['a;b;;\n1;;;x\n', 'a;b\n1;2;x\n', 'a;b\n1\n'])
    expect(() => read(text)).toThrow(/line 2 has \d cells, but there are 2 columns/)
})

test('columns without a name get letters, and a repeated name gets a number', () => {
  expect(linesOf('a;;;b;b\n1;;2;3;4\n')).toEqual([
    ['a', 'C', 'b', 'b (2)'],
    [2, '1', '2', '3', '4'],
  ])
  const many = linesOf(`${'a,'.repeat(30_000)}a\n${'1,'.repeat(30_000)}1\n`)
  expect([many[0]?.length, many[0]?.at(-1)]).toEqual([30_001, 'a (30001)'])
  expect(() => linesOf('documentHash,documentHash\n')).toThrow('duplicate column')
})

/** Windows-1250 and 1252 have these letters at the same bytes, but for the last one. */
const WINDOWS = Buffer.from([...Buffer.from('a;b\n'), 0x80, 0x8a, 0x84, 0xfc, 0x3b, 0xe8, 0x0a])

test('reads Windows encodings by name, but UTF-8 with a mark always as such', () => {
  const cells = (encoding: 'windows-1252' | 'windows-1250') =>
    parseCsv(WINDOWS, { encoding }).rows[0]
  expect(cells('windows-1252')).toMatchObject({ cells: { a: '€Š„ü', b: 'è' } })
  expect(cells('windows-1250')).toMatchObject({ cells: { a: '€Š„ü', b: 'č' } })
  // Bytes that mean nothing stay control characters, which no document may have.
  expect(decodeText(Uint8Array.of(0x81), 'windows-1252')).toBe('\x81')
  const { dialect } = parseCsv(WINDOWS, { encoding: 'windows-1252' })
  expect(dialect).toMatchObject({ delimiter: ';', encoding: 'utf-8', hasMark: true })
  const again = formatTable(['a', 'b'], [{ a: '€Š„ü', b: 'č' }], dialect)
  expect(parseCsv(again, { encoding: 'windows-1252' }).rows[0]).toMatchObject({
    cells: { a: '€Š„ü', b: 'č' },
  })
})

test('names the option for text that is not UTF-8, and refuses it for UTF-8', async () => {
  await expect(readTable(WINDOWS)).rejects.toThrow(/--encoding windows-1252, windows-1250, /)
  const utf8 = readTable(Buffer.from('a\nZoë\n'), { encoding: 'windows-1252' })
  await expect(utf8).rejects.toThrow(/leave out --encoding/)
  expect(parseCsv(Buffer.from('a\nZoe\n'), { encoding: 'windows-1252' }).rows).toHaveLength(1)
})

test('keeps the cells of a table from another program', () => {
  const own = "subjectName,subjectId\n'=1,\\u001b\n"
  const cells = { subjectName: "'=1", subjectId: '\\u001b' }
  expect(parseCsv(Buffer.from(own)).rows).toEqual([{ line: 2, cells }])
})

/** Files of people who do this job, with the names in their rows. */
test.each([
  ['c01-sep-line.csv', ['Ana Test']],
  ['c05-inner-quotes.tsv', ['Ana "Annie" Test', 'Ben Test']],
  ['c09-utf16le-nobom.csv', ['Ána Test']],
  ['c31-ctrlz.csv', ['Ana Test']],
])('reads %s', (name, names) => {
  const { rows } = parseCsv(readFileSync(join(import.meta.dirname, 'field', name)))
  expect(rows.map(({ cells }) => cells.subjectName)).toEqual(names)
  expect(rows[0]?.cells).toMatchObject({ subjectId: '1001', issuedAt: '2026-01-31' })
})

test.each([
  ['windows-1251', 'c0edede0', 'Анна'],
  ['windows-1253', 'c1edede1', 'Αννα'],
  ['windows-1254', 'deeb', 'Şë'],
  ['windows-1255', 'f9ece5ed', 'שלום'],
  ['windows-1256', 'e3cde3cf', 'محمد'],
  ['shift_jis', '8e529363', '山田'],
  ['gb18030', 'cdf5', '王'],
  ['big5', 'a4fd', '王'],
  ['euc-kr', 'b1e8', '김'],
  ['macintosh', '8e', 'é'],
  ['koi8-r', 'e1cecec1', 'Анна'],
] as const)('reads %s by name', (encoding, hex, name) => {
  expect(decodeText(Buffer.from(hex, 'hex'), encoding)).toBe(name)
})

test('reports that text is not in the named encoding', () => {
  expect(() => decodeText(Uint8Array.of(0x81, 0x0a), 'shift_jis')).toThrow(/is not in .* shift_jis/)
})

const linesOf = (text: string | Uint8Array) => {
  const { columns, rows } = parseCsv(typeof text === 'string' ? Buffer.from(text) : text)
  return [columns, ...rows.map(({ line, cells }) => [line, ...Object.values(cells)])]
}

test.each([
  [
    'a sep= line',
    'sep=|\na|b;c\n1|2\n',
    [
      ['a', 'b;c'],
      [3, '1', '2'],
    ],
  ],
  [
    'comments',
    '# made, by X\n# in May\na,b\n1,2\n',
    [
      ['a', 'b'],
      [4, '1', '2'],
    ],
  ],
  ['a comment above one column', '# x\nname\nAda\n', [['name'], [3, 'Ada']]],
  [
    'a column named #',
    '#;name\n#1;Ada\n',
    [
      ['#', 'name'],
      [2, '#1', 'Ada'],
    ],
  ],
  [
    'empty lines first',
    '\n\na;b\n1;2\n',
    [
      ['a', 'b'],
      [4, '1', '2'],
    ],
  ],
  [
    'pipes',
    'a|b\r\n1|2',
    [
      ['a', 'b'],
      [2, '1', '2'],
    ],
  ],
  [
    'titles above its header',
    'Graduates, Summer 2026;;\n"Faculty of ""Law"",\nBerlin"\n\nname;id;note\nAda;1;a, b\n',
    [
      ['name', 'id', 'note'],
      [6, 'Ada', '1', 'a, b'],
    ],
  ],
  [
    'a title as long as its header',
    'Graduates,2026\nsubjectName,subjectId\nAda,1\nBob,2\n',
    [
      ['subjectName', 'subjectId'],
      [3, 'Ada', '1'],
      [4, 'Bob', '2'],
    ],
  ],
  [
    'a title that is almost as wide as its header',
    'Faculty;Law;31.07.2026;;\nname;id;degree;day;note\nAda;1;BSc;x;y\n',
    [
      ['name', 'id', 'degree', 'day', 'note'],
      [3, 'Ada', '1', 'BSc', 'x', 'y'],
    ],
  ],
  [
    'years for names',
    'name;1/2024;1/2025\nAda;good;bad\n',
    [
      ['name', '1/2024', '1/2025'],
      [2, 'Ada', 'good', 'bad'],
    ],
  ],
  [
    'one column, and a comma in a cell',
    'name\nAda\n"King, Ada"\n',
    [['name'], [2, 'Ada'], [3, 'King, Ada']],
  ],
  [
    'commas in cells that semicolons separate',
    'name;note\nAda;a, b, c\nBob;d, e, f\n',
    [
      ['name', 'note'],
      [2, 'Ada', 'a, b, c'],
      [3, 'Bob', 'd, e, f'],
    ],
  ],
  [
    'the end of CP/M',
    'a,b\n1,2\n\x1a',
    [
      ['a', 'b'],
      [2, '1', '2'],
    ],
  ],
])('reads a table with %s', (_, text, lines) => {
  expect(linesOf(text)).toEqual(lines)
})

test('removes invisible characters, and keeps joiners that change letters', () => {
  const at = (name: string) => readFileSync(join(import.meta.dirname, 'field', name))
  expect(parseCsv(at('c22-lre.csv')).rows[0]?.cells).toMatchObject({ subjectName: 'Ana Test' })
  const cells = [
    '\u200fمحمد\u200e',
    'نیک\u200cپی',
    'क्\u200dष',
    'A\u200dna',
    'An\u00ada',
    '👩\u200d🔬',
  ]
  const [columns, row] = linesOf(`\u200ba,b,c,d,e,f\n${cells.join()}\n`)
  expect(columns).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  expect(row).toEqual([2, 'محمد', 'نیک\u200cپی', 'क्\u200dष', 'Ana', 'Ana', '👩\u200d🔬'])
})

test('marks the errors of formulas that were saved as CSV', () => {
  const { rows } = parseCsv(Buffer.from('a,b,c\n#N/A,#1,x\nErr:502,#DIV/0!,1\n'))
  const problem = 'no_result'
  expect(rows.map(({ notes }) => notes)).toEqual([
    { a: { problem } },
    { a: { problem }, b: { problem } },
  ])
})

test('reads the header from a given line', () => {
  const text = Buffer.from('by faculty, draft\nlaw,arts\nname,id\nAda,1\n')
  expect(parseCsv(text).columns).toEqual(['by faculty', 'draft'])
  const { columns, rows, choices } = parseCsv(text, { header: 3 })
  expect([columns, rows]).toEqual([['name', 'id'], [{ line: 4, cells: { name: 'Ada', id: '1' } }]])
  expect(choices?.header).toBe(3)
  expect(choices?.lines.map(({ line, cells }) => [line, ...cells])).toEqual([
    [1, 'by faculty', 'draft'],
    [2, 'law', 'arts'],
    [3, 'name', 'id'],
    [4, 'Ada', '1'],
  ])
  const failed = Buffer.from('line,problem,name\n4,bad,Ada\n')
  expect(parseCsv(failed, { header: 3 }).columns).toEqual(['line', 'problem', 'name'])
  for (const header of [9, 2 ** 31])
    expect(() => parseCsv(text, { header })).toThrow(`line ${header} must name the columns`)
})

test('returns the choices with a problem of a table', () => {
  const thrown = (text: string) => {
    try {
      parseCsv(Buffer.from(text))
    } catch (error) {
      return error as TableError
    }
    return undefined
  }
  const error = thrown('Graduates,Law\nname,id,name\nAda,1,x\n')
  expect([error?.problem, error?.choices?.lines.map(({ line }) => line)]).toEqual([
    'cell_count',
    [1, 2, 3],
  ])
})

test('quotes a copied cell only for a tab, a line break or a quotation mark', () => {
  const cells = ['"Annie" Test', '3.5"', '"open', '"x\ny"', '"q ""z"""', '"Annie"', 'a ""b"" c']
  const rows = linesOf(`n\tm\n${cells.map((cell) => `${cell}\t1\n`).join('')}`).slice(1)
  expect(rows.map(([, cell]) => cell)).toEqual([
    '"Annie" Test',
    '3.5"',
    '"open',
    'x\ny',
    'q "z"',
    'Annie',
    'a ""b"" c',
  ])
})

test('reads UTF-16 of both orders, with a mark and without', () => {
  const little = Buffer.from('name;x\n王小明;1\n', 'utf16le')
  const big = Buffer.from(little).swap16()
  for (const bytes of [
    little,
    Buffer.from([0xff, 0xfe, ...little]),
    big,
    Buffer.from([0xfe, 0xff, ...big]),
  ])
    expect(linesOf(bytes)).toEqual([
      ['name', 'x'],
      [2, '王小明', '1'],
    ])
})

test('names the format of a file that is no table, and no code of a parser', () => {
  expect(() => linesOf(Uint8Array.of(0xd0, 0xcf, 0x11, 0xe0, 0))).toThrow(/before 2007 \(\.xls\)/)
  const page = '\n<html><table><tr>'
  for (const text of [page, `\ufeff${page}`, '<?xml version="1.0"?>', '<!-- x -->', '<TABLE >'])
    for (const encoding of ['utf-8', 'utf16le'] as const)
      expect(() => linesOf(Buffer.from(text, encoding))).toThrow(/is a web page or XML/)
  expect(linesOf('<name>,b\n1,2\n')[0]).toEqual(['<name>', 'b'])
  for (const row of ['"x" y,1', 'x "y,1', '"x'])
    expect(() => linesOf(`a,b\n${row}\n`)).toThrow(/^line \d: [a-z ]+$/)
})
