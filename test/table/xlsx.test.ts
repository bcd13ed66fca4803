import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { isZip, parseXlsx } from '#table/xlsx.ts'

const read = (name: string) =>
  new Uint8Array(readFileSync(join(import.meta.dirname, 'workbooks', name)))
const problemOf = (bytes: Uint8Array) => {
  try {
    parseXlsx(bytes)
  } catch (error) {
    const { problem, line } = error as { problem?: string; line?: number }
    return [problem, line]
  }
  return undefined
}

/** @returns A workbook with this content of its sheet. */
const bookOf = (sheet: string, parts: Record<string, string> = {}) =>
  zipSync({
    'xl/workbook.xml': strToU8(
      parts.workbook ??
        '<workbook><sheets><sheet name="a" sheetId="1" r:id="rId1"/></sheets></workbook>',
    ),
    'xl/_rels/workbook.xml.rels': strToU8(
      '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>',
    ),
    'xl/worksheets/sheet1.xml': strToU8(sheet),
    ...(parts.styles && { 'xl/styles.xml': strToU8(parts.styles) }),
  })
const cell = (ref: string, text: string) =>
  `<c r="${ref}" t="inlineStr"><is><t>${text}</t></is></c>`

test('default: reads what openpyxl writes', () => {
  const { columns, rows } = parseXlsx(read('openpyxl.xlsx'))
  expect(columns).toEqual(['Full name', 'Student no', 'Degree', 'Date of issue', 'Grade'])
  expect(rows.map(({ line, cells }) => [line, ...Object.values(cells)])).toEqual([
    [3, 'Ada “Lovelace” & <Co>', '0018151210', 'BSc', '2026-07-31', '1.3'],
    [4, 'Zoë 王\nsecond line', '42', 'BSc', '2026-08-01', '2'],
    [6, 'Cleo', '007', 'MSc', '2026-08-02', 'TRUE'],
  ])
})

test('default: reads what XlsxWriter writes', () => {
  const { rows } = parseXlsx(read('xlsxwriter.xlsx'))
  expect(rows.map(({ cells }) => Object.values(cells))).toEqual([
    ['=Bob', '1234567890123', 'diploma', '2026-12-31', '3'],
    ['محمد', '0.3', 'diploma', '1999-01-01', '0.5'],
    ['Two words', '5', 'diploma', '2000-01-01', 'FALSE'],
  ])
})

test('behavior: counts days from 1904 where the workbook does', () => {
  const styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
  const sheet = `<row r="1">${cell('A1', 'a')}</row><row r="2"><c r="A2" s="1"><v>0</v></c></row>`
  const workbook =
    '<workbook><workbookPr date1904="1"/><sheets><sheet r:id="rId1"/></sheets></workbook>'
  expect(parseXlsx(bookOf(sheet, { styles })).rows[0]?.cells.a).toBe('1899-12-31')
  expect(parseXlsx(bookOf(sheet, { styles, workbook })).rows[0]?.cells.a).toBe('1904-01-01')
})

test('error: names the row of a formula without its result, or of an error', () => {
  expect(problemOf(read('formula.xlsx'))).toEqual(['no_result', 4])
  const sheet = `<row r="1">${cell('A1', 'a')}</row><row r="2"><c r="A2" t="e"><v>#REF!</v></c></row>`
  expect(problemOf(bookOf(sheet))).toEqual(['no_result', 2])
})

test('error: says what is wrong with the table', () => {
  const two = `<row r="1">${cell('A1', 'a')}${cell('B1', 'a')}</row>`
  expect(problemOf(bookOf(two))).toEqual(['duplicate_column', undefined])
  const more = `<row r="1">${cell('A1', 'a')}</row><row r="9">${cell('A9', 'x')}${cell('B9', 'y')}</row>`
  expect(problemOf(bookOf(more))).toEqual(['cell_count', 9])
  expect(problemOf(bookOf(''))).toEqual(['no_columns', undefined])
})

test('error: refuses a file that is not a workbook, and one that would fill the memory', () => {
  expect(isZip(read('openpyxl.xlsx'))).toBe(true)
  expect(problemOf(new Uint8Array([0x50, 0x4b, 3, 4, 0]))).toEqual(['no_workbook', undefined])
  expect(problemOf(zipSync({ 'a.txt': strToU8('a') }))).toEqual(['no_workbook', undefined])
  const far = `<row r="1">${cell('ZZZ1', 'a')}</row>`
  expect(problemOf(bookOf(far))).toEqual(['workbook_too_large', undefined])
  const deep = `<row r="9999999">${cell('A9999999', 'a')}</row>`
  expect(problemOf(bookOf(deep))).toEqual(['too_many_rows', undefined])
  const bomb = bookOf(' '.repeat(100 * 1024 * 1024))
  expect(bomb.length).toBeLessThan(200_000)
  expect(problemOf(bomb)).toEqual(['workbook_too_large', undefined])
  // One that states another size than it has.
  const view = new DataView(bomb.buffer, bomb.byteOffset, bomb.byteLength)
  for (let i = 0; i + 4 < bomb.length; i++)
    if (view.getUint32(i, true) === 0x02014b50 && view.getUint32(i + 24, true) > 1e6)
      view.setUint32(i + 24, 1_000, true)
  expect(problemOf(bomb)?.[0]).toMatch(/^no_(workbook|columns)$/)
})
