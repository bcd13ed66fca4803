import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { isZip } from '#table/read.ts'
import { parseWorkbook } from '#table/workbook.ts'
import { sheetsOf } from '../../support/workbook.ts'

const read = (name: string) =>
  new Uint8Array(readFileSync(join(import.meta.dirname, 'workbooks', name)))
const problemOf = (bytes: Uint8Array) => {
  try {
    parseWorkbook(bytes)
  } catch (error) {
    const { problem, line } = error as { problem?: string; line?: number }
    return [problem, line]
  }
  return undefined
}

const TYPE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const relsOf = (targets: Record<string, string>) =>
  `<Relationships>${Object.entries(targets).map(
    ([type, target], i) =>
      `<Relationship Id="rId${i + 1}" Type="${TYPE}/${type}" Target="${target}"/>`,
  )}</Relationships>`
const WORKBOOK = '<workbook><sheets><sheet name="a" sheetId="1" r:id="rId1"/></sheets></workbook>'

/** @returns A ZIP of these parts. */
const zipOf = (parts: Record<string, string>) =>
  zipSync(Object.fromEntries(Object.entries(parts).map(([name, xml]) => [name, strToU8(xml)])), {
    level: 1,
  })

/** @returns A workbook with this content of its sheet. */
const bookOf = (sheet: string, parts: Record<string, string> = {}) =>
  zipOf({
    '_rels/.rels': relsOf({ officeDocument: 'xl/workbook.xml' }),
    'xl/workbook.xml': parts.workbook ?? WORKBOOK,
    'xl/_rels/workbook.xml.rels': relsOf({
      worksheet: 'worksheets/sheet1.xml',
      styles: 'styles.xml',
      sharedStrings: 'sharedStrings.xml',
    }),
    'xl/worksheets/sheet1.xml': `<worksheet>${sheet}</worksheet>`,
    'xl/styles.xml': parts.styles ?? '<styleSheet/>',
    'xl/sharedStrings.xml': parts.shared ?? '<sst/>',
  })
const cell = (ref: string, text: string) =>
  `<c r="${ref}" t="inlineStr"><is><t>${text}</t></is></c>`

test('reads what openpyxl writes', () => {
  const { columns, rows } = parseWorkbook(read('openpyxl.xlsx'))
  expect(columns).toEqual(['Full name', 'Student no', 'Degree', 'Date of issue', 'Grade'])
  expect(rows.map(({ line, cells }) => [line, ...Object.values(cells)])).toEqual([
    [3, 'Ada “Lovelace” & <Co>', '0018151210', 'BSc', '2026-07-31', '1.3'],
    [4, 'Zoë 王\nsecond line', '42', 'BSc', '2026-08-01 15:30:00', '2'],
    [6, 'Cleo', '007', 'MSc', '2026-08-02', 'TRUE'],
  ])
})

test('reads what XlsxWriter writes', () => {
  const { rows } = parseWorkbook(read('xlsxwriter.xlsx'))
  expect(rows.map(({ cells }) => Object.values(cells))).toEqual([
    ['=Bob', '1234567890123', 'diploma', '2026-12-31', '3'],
    ['محمد', '0.3', 'diploma', '1999-01-01', '12:00'],
    ['Two words', '5', 'diploma', '2000-01-01', 'FALSE'],
  ])
})

test('counts days from 1904 where the workbook does', () => {
  const styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
  const sheet = `<row r="1">${cell('A1', 'a')}</row><row r="2"><c r="A2" s="1"><v>0</v></c></row>`
  const workbook =
    '<workbook><workbookPr date1904="1"/><sheets><sheet r:id="rId1"/></sheets></workbook>'
  const of = (parts: Record<string, string>) => parseWorkbook(bookOf(sheet, parts)).rows[0]?.cells.a
  expect(of({ styles: `<styleSheet>${styles}</styleSheet>` })).toBe('1899-12-31')
  expect(of({ styles: `<styleSheet>${styles}</styleSheet>`, workbook })).toBe('1904-01-01')
})

const HEADER = ['subjectName', 'subjectId', 'category', 'issuedAt', 'metadata.grade']
const GOOD = ['Ana Test', '1001', 'diploma', '2026-01-31', 'A']

/** Workbooks of people who do this job, with the cells of their rows. */
test.each([
  ['ok-control', GOOD],
  ['x01-inline-phonetic', ['東京花子', ...GOOD.slice(1)]],
  ['x02-cdata-inline', [...GOOD.slice(0, 4), 'Honours & Distinction']],
  ['x04-workbook2', GOOD],
  ['x05-other-rid-prefix', GOOD],
  ['x06-backslashes', GOOD],
  ['x10-percent', [...GOOD.slice(0, 4), '95%']],
  ['x16-title-row-merged', GOOD],
  ['x33-shared-without-v', [...GOOD.slice(0, 4), '']],
  ['x36-sharedstrings-other-name', [...GOOD.slice(0, 4), 'Honours']],
])('reads the cells of %s', (name, cells) => {
  const { columns, rows } = parseWorkbook(read(join('..', 'field', `${name}.xlsx`)))
  expect(columns).toEqual(HEADER)
  expect(rows.map((row) => Object.values(row.cells))).toEqual([cells])
})

test.each([
  ['x13-id-17-digits', { subjectId: { problem: 'digits_lost' } }],
  ['x29-shared-formula-err-unused', { check: { problem: 'no_result' } }],
  ['x34-shared-index-minus1', { 'metadata.grade': { problem: 'no_result' } }],
  ['x35-shared-index-beyond', { 'metadata.grade': { problem: 'no_result' } }],
])('marks a cell of %s, and reads the others', (name, notes) => {
  const { rows } = parseWorkbook(read(join('..', 'field', `${name}.xlsx`)))
  expect(rows[0]?.notes).toEqual(notes)
  expect(rows[0]?.cells).toMatchObject({ subjectName: 'Ana Test', category: 'diploma' })
})

/** @returns The column `a` of a sheet with these cells, and what else they have. */
const columnOf = (cells: string[], parts: Record<string, string> = {}, language = 'en') => {
  const rows = [cell('A1', 'a'), ...cells].map((one) => `<row>${one}</row>`)
  const read = parseWorkbook(bookOf(`<sheetData>${rows.join('')}</sheetData>`, parts), { language })
  return read.rows.map(({ cells, notes }) => [cells.a, ...Object.values(notes?.a ?? {})])
}

test('reads the whole text of a cell, and nothing else', () => {
  const shared = `<s:sst xmlns:s="x"><s:si><s:r><s:t>Ho</s:t></s:r><s:r><s:t>no<!-- x -->urs</s:t></s:r></s:si>
    <s:si><s:t>東京</s:t><s:rPh sb="0"><s:t>トウキョウ</s:t></s:rPh><s:phoneticPr/></s:si>
    <s:si><s:t><![CDATA[R&D <1>]]> &amp; &#x20BB7;_x0041__x005F_x0041_</s:t></s:si><s:si/></s:sst>`
  const cells: [string, ...string[]][] = [
    ['<c t="s"><v>0</v></c>', 'Honours'],
    ['<c t="s"><v>1</v></c>', '東京'],
    ['<c t="s"><v>2</v></c>', 'R&D <1> & 𠮷A_x0041_'],
    ['<c t="str"><f>A1&amp;"x"</f><v>a<![CDATA[<]]>x</v></c>', 'a<x'],
    ['<c t="inlineStr"><is><r><t>two </t></r><r><t>parts</t></r></is><v>9</v></c>', 'two parts'],
    ["<c\n t='inlineStr'\n><is ><t xml:space='preserve'> x </t ></is></c >", 'x'],
    ['<c t="s"><v>0</v><extLst><ext><v>1</v></ext></extLst></c>', 'Honours'],
    ['<c t="n"><f>1+1</f><v><!-- x -->2</v></c>', '2'],
    ['<c t="d"><v>2026-01-31T00:00:00</v></c>', '2026-01-31'],
    ['<c t="s"><v>9</v></c>', '', 'no_result'],
    ['<c t="e"><v>#N/A</v></c>', '#N/A', 'no_result'],
    ['<c><f>B80+1</f></c>', '', 'no_result'],
  ]
  const read = columnOf(
    cells.map(([xml]) => xml),
    { shared },
  )
  expect(read).toEqual(cells.map(([, ...shown]) => shown))
})

test.each([
  ['a main part of another name', { 'xl/workbook.xml': 'xl/book-1.xml' }],
  ['a main part in the root', { 'xl/workbook.xml': 'book.xml' }],
  ['backslashes', { 'xl/worksheets/sheet1.xml': 'xl\\worksheets\\sheet1.xml' }],
  [
    'another case',
    { 'xl/styles.xml': 'XL/Styles.XML', 'xl/sharedStrings.xml': 'xl/SharedStrings.xml' },
  ],
  ['a sheet elsewhere', { 'xl/worksheets/sheet1.xml': 'sheets/one sheet.xml' }],
])('finds the parts of a workbook with %s', (_, renamed: Record<string, string>) => {
  const name = (path: string) => renamed[path] ?? path
  const main = name('xl/workbook.xml')
  const folder = main.replace(/[^/]*$/, '')
  const targets = [
    (path: string) => `/${path}`,
    (path: string) => `./${folder.replace(/[^/]+/g, '..')}${path}`,
    (path: string) => encodeURI(`/${path}`),
  ]
  for (const target of targets) {
    const bytes = zipOf({
      '_rels/.rels': relsOf({ thumbnail: 'a.jpg', officeDocument: `./${main}` }),
      [main]: `<w:workbook xmlns:w="w" xmlns:d="d"><w:sheets><w:sheet name="chart" d:id="rId1"/><w:sheet name="a" state="hidden" d:id="rId9"/><w:sheet name="b" d:id="rId2"/></w:sheets></w:workbook>`,
      [`${folder}_rels/${main.slice(folder.length)}.rels`]: relsOf({
        chartsheet: target('xl/chartsheets/sheet1.xml'),
        worksheet: target(name('xl/worksheets/sheet1.xml')),
        styles: target(name('xl/styles.xml')),
        sharedStrings: target(name('xl/sharedStrings.xml')),
      }),
      'xl/chartsheets/sheet1.xml': '<chartsheet/>',
      [name('xl/worksheets/sheet1.xml')]:
        '<worksheet><row><c t="s"><v>0</v></c></row><row><c s="1"><v>46053</v></c></row></worksheet>',
      [name('xl/styles.xml')]:
        '<styleSheet><cellXfs><xf/><xf numFmtId="14"/></cellXfs></styleSheet>',
      [name('xl/sharedStrings.xml')]: '<sst><si><t>a</t></si></sst>',
    })
    expect(parseWorkbook(bytes).rows).toEqual([{ line: 2, cells: { a: '2026-01-31' } }])
  }
})

/** Numbers, their formats, and what is shown; then what they are, if that is something else. */
const NUMBERS: [number: string, format: string | number, ...shown: string[]][] = [
  ['2', '0.0', '2.0', '2'],
  ['0.85', 9, '85%', '0.85'],
  ['0.85', '0 %', '85 %', '0.85'],
  ['1234.5', 4, '1,234.50', '1234.5'],
  ['46023', 'mmmm', 'January', '2026-01-01'],
  ['0.5', 20, '12:00'],
  ['1.5', '[h]:mm', '36:00'],
  ['7', '"ST"0000', 'ST0007', '7'],
  ['1250', '#,##0.00 €', '1,250.00 €', '1250'],
  ['1250', '#,##0.00\\ [$€-407]', '1.250,00 €', '1250'],
  ['2.675', '0.00', '2.68', '2.675'],
  ['42', '0000', '0042', '42'],
  ['3', '0" of 5"', '3 of 5', '3'],
  ['12345', '0.00E+00', '1.23E+04', '12345'],
  // General and text have all digits.
  ['123456789012', 0, '123456789012'],
  ['1.23456789012E+11', '@', '123456789012'],
  ['123456789012', 'General" kg"', '123456789012 kg', '123456789012'],
  ['0.30000000000000004', 0, '0.3'],
  ['1E-7', 0, '0.0000001'],
  ['-0.05', 0, '-0.05'],
  ['123456789012345', 0, '123456789012345'],
  ['1234567890123456', 0, '1234567890123456', 'digits_lost'],
  ['1.2345678901234499E+16', 0, '12345678901234500', 'digits_lost'],
  // A whole date is a day.
  ['46053', 'dd/mm/yyyy;@', '2026-01-31'],
  ['46053', '[$-F800]dddd, mmmm dd, yyyy', '2026-01-31'],
  ['46053', 31, '2026-01-31'],
  ['46053', 22, '2026-01-31'],
  ['46053.4375', 22, '2026-01-31 10:30', '2026-01-31'],
  ['46053', 17, 'Jan-26', '2026-01-31'],
  ['46053', 'yyyy', '2026', '2026-01-31'],
  ['-1', 14, '', 'no_result'],
  ['3000000', 14, '', 'no_result'],
  // What is no format says nothing.
  ['5', 'junk[', '5'],
  ['5', '0'.repeat(300), '5'],
]

const stylesOf = (formats: readonly (string | number)[]) => {
  const codes = formats.map((code, i) =>
    typeof code === 'string'
      ? `<numFmt numFmtId="${200 + i}" formatCode="${code.replaceAll('"', '&quot;')}"/>`
      : '',
  )
  const ids = formats.map((code, i) => (typeof code === 'string' ? 200 + i : code))
  return `<styleSheet><numFmts>${codes.join('')}</numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs>
    <cellXfs>${ids.map((id) => `<xf numFmtId="${id}"/>`).join('')}</cellXfs><dxfs><dxf><numFmt numFmtId="200" formatCode="0"/></dxf></dxfs></styleSheet>`
}

test('returns a number as its user sees it', () => {
  const styles = stylesOf(NUMBERS.map(([, format]) => format))
  const cells = NUMBERS.map(([number], i) => `<c s="${i}"><v>${number}</v></c>`)
  expect(columnOf(cells, { styles })).toEqual(NUMBERS.map(([, , ...shown]) => shown))
})

test('the language decides how decimals and months are written', () => {
  const styles = stylesOf(['#,##0.00', 'mmmm', 0, '[$-40C]mmmm', 14])
  const cells = [1234.5, 46023, 1.3, 46023, 46023].map((n, i) => `<c s="${i}"><v>${n}</v></c>`)
  expect(columnOf(cells, { styles }, 'de')).toEqual([
    ['1.234,50', '1234.5'],
    ['Januar', '2026-01-01'],
    ['1,3', '1.3'],
    ['janvier', '2026-01-01'],
    ['2026-01-01'],
  ])
})

const MiB = 1024 * 1024
/** Most take less than 0.1 s, three million cells some seconds. */
const MAX_MS = 20_000
/** Small files that take all time or memory if they are read to the end. */
const ATTACKS: [name: string, problem: string, sheet: () => string][] = [
  ['unclosed tags', 'workbook_strange', () => '<a '.repeat(300_000)],
  ['unclosed quotation marks', 'workbook_strange', () => '<a "'.repeat(300_000)],
  ['bare attributes', 'no_workbook', () => `<c x=">" ${'a '.repeat(MiB / 2)}/>`],
  ['a tag of 65 KiB', 'workbook_strange', () => `<c x="${'a'.repeat(66_560)}"/>`],
  ['unclosed CDATA', 'workbook_strange', () => '<![CDATA['.repeat(300_000)],
  ['65 tags in each other', 'workbook_strange', () => '<a>'.repeat(65) + '</a>'.repeat(65)],
  ['a document type', 'workbook_strange', () => '<!DOCTYPE a [<!ENTITY b "c">]>'],
  ['merged ranges', 'too_many_merged', () => '<mergeCell ref="A1:SF200000"/>'.repeat(20_000)],
  ['empty cells', 'workbook_too_large', () => `<row>${'<c/>'.repeat(400)}</row>`.repeat(10_000)],
  ['cells far out', 'workbook_too_large', () => `<row r="1">${cell('ZZZ1', 'a')}</row>`],
  ['rows far out', 'too_many_rows', () => `<row r="9999999">${cell('A9999999', 'a')}</row>`],
]

test.each(ATTACKS)('refuses %s quickly, and says why', (_, problem, sheet) => {
  const bytes = bookOf(sheet())
  expect(bytes.length).toBeLessThan(300_000)
  const begun = performance.now()
  expect(problemOf(bytes)).toEqual([problem, undefined])
  expect(performance.now() - begun).toBeLessThan(MAX_MS)
})

test('limits a workbook to 96 MiB in all parts, each read once', () => {
  const half = ' '.repeat(50 * MiB)
  const book = { styles: `<styleSheet>${half}</styleSheet>` }
  expect(problemOf(bookOf('', book))).toEqual(['no_columns', undefined])
  expect(problemOf(bookOf(half, book))).toEqual(['workbook_too_large', undefined])
  // Parts that nobody names are not unpacked.
  const parts = { 'xl/worksheets/sheet2.xml': ' '.repeat(100 * MiB) }
  const whole = zipOf({
    ...parts,
    'xl/workbook.xml': WORKBOOK,
    'xl/_rels/workbook.xml.rels': relsOf({ worksheet: 'a.xml' }),
    'xl/a.xml': `<worksheet><row>${cell('A1', 'a')}</row></worksheet>`,
  })
  expect(parseWorkbook(whole).columns).toEqual(['a'])
  expect(problemOf(zipOf({ 'xl/Workbook.xml': WORKBOOK, 'xl/workbook.xml': WORKBOOK }))).toEqual([
    'no_workbook',
    undefined,
  ])
})

test('reads the given sheet, or the first that is not empty', () => {
  const book = sheetsOf({ empty: [], people: [['name'], ['Ada']], 'R&amp;D': [['id'], ['7']] })
  const { columns, choices } = parseWorkbook(book)
  expect(columns).toEqual(['name'])
  expect(choices).toMatchObject({ sheet: 'people', sheets: ['empty', 'people', 'R&D'], header: 1 })
  expect(parseWorkbook(book, { sheet: 'R&D' }).rows).toMatchObject([
    { line: 2, cells: { id: '7' } },
  ])
  expect(() => parseWorkbook(book, { sheet: 'none' })).toThrow(
    'there is no sheet "none" but "empty", "people", "R&D"',
  )
})

test.each([
  [
    'a title and a date',
    [
      ['Graduates', '2026'],
      ['name', 'id', 'grade', 'note'],
    ],
    2,
  ],
  [
    'groups',
    [
      ['person', 'person', 'degree', 'degree'],
      ['name', 'id', 'title', 'day'],
    ],
    2,
  ],
  ['nothing', [['name', 'id', 'grade']], 1],
])('finds the header below %s', (_, above, header) => {
  const { choices, columns, rows } = parseWorkbook(sheetsOf({ a: [...above, ['Ada', '1']] }))
  expect([choices?.header, columns]).toEqual([header, above.at(-1)])
  expect(rows.map(({ line }) => line)).toEqual([header + 1])
})

test('reads the header from a given line', () => {
  const book = sheetsOf({
    a: [
      ['x', 'y'],
      ['name', 'id'],
      ['Ada', '1'],
    ],
  })
  expect(parseWorkbook(book).columns).toEqual(['x', 'y'])
  expect(parseWorkbook(book, { header: 2 })).toMatchObject({
    columns: ['name', 'id'],
    rows: [{ line: 3, cells: { name: 'Ada', id: '1' } }],
  })
  expect(() => parseWorkbook(book, { header: 4 })).toThrow('line 4 must name the columns')
})

test('removes invisible characters', () => {
  const { columns, rows } = parseWorkbook(sheetsOf({ a: [['\u200bname'], ['\u202aAna\u202c']] }))
  expect([columns, rows[0]?.cells]).toEqual([['name'], { name: 'Ana' }])
})

test('a saved table of results keeps its text', () => {
  const results = [
    ['publicId', 'subjectName'],
    ['x', "'=1+1"],
    ['y', 'A\u200dna'],
  ]
  const { rows } = parseWorkbook(sheetsOf({ a: results }))
  expect(rows.map(({ cells }) => cells.subjectName)).toEqual(['=1+1', 'A\u200dna'])
})

test('columns without a name get letters, and a repeated name gets a number', () => {
  const { columns, rows } = parseWorkbook(
    sheetsOf({
      a: [
        ['name', '', '', 'note', 'note'],
        ['Ada', '', 'x', '1', '2', '', 'see me'],
      ],
    }),
  )
  expect(columns).toEqual(['name', 'C', 'note', 'note (2)', 'G'])
  expect(Object.values(rows[0]?.cells ?? {})).toEqual(['Ada', 'x', '1', '2', 'see me'])
})

test('a merged range shows its first cell', () => {
  const sheet = `<row>${cell('A1', 'a')}${cell('B1', 'b')}</row><row>${cell('A2', 'x')}${cell('B2', 'unseen')}</row><row>${cell('B3', 'y')}</row><mergeCells><mergeCell ref="A2:B2"/></mergeCells>`
  expect(parseWorkbook(bookOf(sheet)).rows.map(({ cells }) => cells)).toEqual([
    { a: 'x', b: 'x' },
    { a: '', b: 'y' },
  ])
})

test('says what is wrong with the table', () => {
  const two = `<row r="1">${cell('A1', 'publicId')}${cell('B1', 'publicId')}</row>`
  expect(problemOf(bookOf(two))).toEqual(['duplicate_column', undefined])
  expect(problemOf(bookOf(''))).toEqual(['no_columns', undefined])
})

test('refuses a file that is not a workbook, and one that would exhaust memory', () => {
  expect(isZip(read('openpyxl.xlsx'))).toBe(true)
  expect(problemOf(new Uint8Array([0x50, 0x4b, 3, 4, 0]))).toEqual(['no_workbook', undefined])
  expect(problemOf(zipSync({ 'a.txt': strToU8('a') }))).toEqual(['no_workbook', undefined])
  const bomb = bookOf(' '.repeat(100 * 1024 * 1024))
  expect(bomb.length).toBeLessThan(MiB)
  expect(problemOf(bomb)).toEqual(['workbook_too_large', undefined])
  // One that states another size than it has.
  const view = new DataView(bomb.buffer, bomb.byteOffset, bomb.byteLength)
  for (let i = 0; i + 4 < bomb.length; i++)
    if (view.getUint32(i, true) === 0x02014b50 && view.getUint32(i + 24, true) > 1e6)
      view.setUint32(i + 24, 1_000, true)
  expect(problemOf(bomb)?.[0]).toMatch(/^no_(workbook|columns)$/)
})
