import { strFromU8, unzipSync } from 'fflate'
import { FOR_SPREADSHEETS, MAX_ROWS, type Table, TableError, tableOf } from './csv.ts'
import { attributesOf, elementsIn, textOf } from './xml.ts'

/** The maximum bytes of one part of a workbook; a sheet of 100,000 rows has about 50 MB. */
const MAX_PART = 96 * 1024 * 1024
const MAX_PARTS = 10_000
const MAX_COLUMNS = 500

/** A cell of the sheet: its place from 0, and its text. */
type Cell = { row: number; column: number; text: string }
/** How numbers of a style are shown. */
type Format = 'date' | 'number' | { digits: number }

/** @returns Whether these are the first bytes of a ZIP, such as a workbook. */
export function isZip(bytes: Uint8Array): boolean {
  return [0x50, 0x4b, 0x03, 0x04].every((byte, i) => bytes[i] === byte)
}

/**
 * Reads the first visible sheet of a workbook (Office Open XML). Dates become YYYY-MM-DD, a formula
 * its last result, and each cell of a merged range has the text of the range. Empty rows above the
 * header and between rows are left out.
 *
 * @throws {TableError}
 */
export function parseXlsx(bytes: Uint8Array): Table {
  const parts = unzip(bytes)
  const part = (path: string) => {
    const found = parts[path]
    return found === undefined ? undefined : strFromU8(found)
  }
  const workbook = part('xl/workbook.xml')
  const sheet = workbook && part(pathOfSheet(workbook, part('xl/_rels/workbook.xml.rels') ?? ''))
  if (!workbook || sheet === undefined)
    throw new TableError('no_workbook', 'the file is not a workbook')
  const isFrom1904 = /<(?:\w+:)?workbookPr\b[^>]*\bdate1904="(1|true)"/.test(workbook)
  const shared = sharedIn(part('xl/sharedStrings.xml') ?? '')
  const formats = formatsIn(part('xl/styles.xml') ?? '')
  const rows = rowsOf(sheet, { shared, formats, isFrom1904 })
  const [header, ...lines] = rows.filter(({ cells }) => cells.some((cell) => cell !== ''))
  return tableOf(
    header?.cells ?? [],
    lines.map(({ line, cells }) => ({
      line,
      cells: Array.from(
        { length: Math.max(cells.length, header?.cells.length ?? 0) },
        (_, i) => cells[i] ?? '',
      ),
    })),
    FOR_SPREADSHEETS,
  )
}

/** @returns The parts that are read, by path. */
function unzip(bytes: Uint8Array): Record<string, Uint8Array> {
  let count = 0
  try {
    return unzipSync(bytes, {
      filter({ name, originalSize }) {
        if (++count > MAX_PARTS) throw tooLarge()
        const isRead = /^xl\/(workbook|styles|sharedStrings|worksheets\/[^/]+)\.xml$|\.rels$/.test(
          name,
        )
        // The library writes no more than the size that the file states.
        if (isRead && originalSize > MAX_PART) throw tooLarge()
        return isRead
      },
    })
  } catch (cause) {
    if (cause instanceof TableError) throw cause
    throw new TableError('no_workbook', 'the file is not a workbook', { cause })
  }
}

const tooLarge = () => new TableError('workbook_too_large', 'the workbook is too large')

/** @returns The path of the first sheet that is not hidden. */
function pathOfSheet(workbook: string, rels: string): string {
  const sheets = [...elementsIn(workbook)].filter(({ name, isEnd }) => name === 'sheet' && !isEnd)
  const visible =
    sheets.find(({ attributes }) => !/\bstate="(very)?hidden"/i.test(attributes)) ?? sheets[0]
  const id = visible && attributesOf(visible)['r:id']
  const targets = [...elementsIn(rels)].map(attributesOf)
  const target = targets.find((one) => one.Id === id)?.Target ?? ''
  return target.startsWith('/') ? target.slice(1) : `xl/${target}`
}

/** @returns The shared texts, without the readings (rPh) that Japanese ones may have. */
function sharedIn(xml: string): string[] {
  const texts: string[] = []
  let text = ''
  let isReading = false
  for (const { name, isEnd, isEmpty, content } of elementsIn(xml)) {
    if (name === 'rPh') isReading = !isEnd && !isEmpty
    else if (name === 't' && !isEnd && !isReading) text += textOf(content)
    else if (name === 'si' && (isEnd || isEmpty)) {
      texts.push(text)
      text = ''
    }
  }
  return texts
}

/** The numbers of built-in formats that show a date. */
const isDateFormat = (id: number) =>
  (id >= 14 && id <= 17) || id === 22 || (id >= 27 && id <= 36) || (id >= 50 && id <= 58)

/** @returns The format of each style that cells name. */
function formatsIn(xml: string): Format[] {
  const codes = new Map<number, string>()
  const formats: Format[] = []
  let isInCells = false
  for (const element of elementsIn(xml)) {
    const { name, isEnd } = element
    if (name === 'cellXfs') isInCells = !isEnd
    if (isEnd) continue
    const { numFmtId, formatCode = '' } = attributesOf(element)
    if (name === 'numFmt') codes.set(Number(numFmtId), formatCode)
    else if (name === 'xf' && isInCells) formats.push(formatOf(Number(numFmtId), codes))
  }
  return formats
}

function formatOf(id: number, codes: ReadonlyMap<number, string>): Format {
  const code = codes.get(id)
  if (code === undefined) return isDateFormat(id) ? 'date' : 'number'
  // Without texts, colours and conditions. Minutes have no day or year beside them.
  const plain = code.replace(/"[^"]*"|\\.|\[[^\]]*\]|_.|\*./g, '')
  if (/[dy]/i.test(plain)) return 'date'
  return /^0{2,}$/.test(plain) ? { digits: plain.length } : 'number'
}

type Reading = { shared: readonly string[]; formats: readonly Format[]; isFrom1904: boolean }

/** @returns The rows by their numbers in the sheet, from 1. */
function rowsOf(xml: string, reading: Reading): { line: number; cells: string[] }[] {
  const rows: string[][] = []
  for (const cell of cellsOf(xml, reading)) {
    if (cell.row > MAX_ROWS * 2)
      throw new TableError('too_many_rows', `more than ${MAX_ROWS} rows: split the file`)
    if (cell.column >= MAX_COLUMNS) throw tooLarge()
    rows[cell.row] ??= []
    ;(rows[cell.row] as string[])[cell.column] = cell.text
  }
  for (const element of elementsIn(xml))
    if (element.name === 'mergeCell' && !element.isEnd) fill(rows, attributesOf(element).ref ?? '')
  return Object.entries(rows).map(([row, cells]) => ({
    line: Number(row) + 1,
    cells: Array.from(cells, (cell = '') => cell),
  }))
}

/** Gives each cell of a merged range the text of its first one. */
function fill(rows: string[][], ref: string): void {
  const [from, to] = ref.split(':').map(placeOf)
  if (!from || !to) return
  const text = rows[from.row]?.[from.column] ?? ''
  const last = {
    row: Math.min(to.row, rows.length - 1),
    column: Math.min(to.column, MAX_COLUMNS - 1),
  }
  for (let row = from.row; row <= last.row; row++)
    for (let column = from.column; column <= last.column; column++) {
      const cells = rows[row]
      if (cells) cells[column] = text
    }
}

/** @returns The place that a reference such as `AB12` names. */
function placeOf(ref: string): { row: number; column: number } | undefined {
  const [, letters = '', digits = ''] = /^\$?([A-Z]{1,3})\$?([0-9]{1,7})$/.exec(ref) ?? []
  if (digits === '') return undefined
  const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
  return { row: Number(digits) - 1, column }
}

function* cellsOf(xml: string, reading: Reading): Generator<Cell> {
  let cell: (Cell & { type: string; style: number; isFormula: boolean }) | undefined
  let row = -1
  let column = -1
  for (const element of elementsIn(xml)) {
    const { name, isEnd, isEmpty, content } = element
    if (name === 'row' && !isEnd) {
      row = Number(attributesOf(element).r ?? row + 2) - 1
      column = -1
    } else if (name === 'c' && !isEnd) {
      const { r = '', t = 'n', s = '0' } = attributesOf(element)
      const place = placeOf(r) ?? { row, column: column + 1 }
      column = place.column
      cell = { ...place, text: '', type: t, style: Number(s), isFormula: false }
    } else if (cell && name === 'f') cell.isFormula = true
    else if (cell && (name === 'v' || name === 't') && !isEnd) cell.text += textOf(content)
    if (name === 'c' && (isEnd || isEmpty) && cell) {
      yield { row: cell.row, column: cell.column, text: shownOf(cell, reading) }
      cell = undefined
    }
  }
}

/** @returns The text of a cell, as its user sees it. @throws {TableError} `no_result` */
function shownOf(
  { row, text, type, style, isFormula }: Cell & { type: string; style: number; isFormula: boolean },
  { shared, formats, isFrom1904 }: Reading,
): string {
  if (type === 'e' || (isFormula && text === '' && type !== 'str'))
    throw new TableError('no_result', ' has a cell with an error, or without its result', {
      line: row + 1,
    })
  if (type === 's') return (shared[Number(text)] ?? '').trim()
  if (type === 'b') return text === '1' ? 'TRUE' : 'FALSE'
  if (type === 'd') return text.slice(0, 10)
  if (type !== 'n' || text === '') return text.trim()
  const number = Number(text)
  if (!Number.isFinite(number)) return text.trim()
  const format = formats[style] ?? 'number'
  if (format === 'date') return dayOf(number, isFrom1904)
  // Programs write 15 digits and what binary numbers add behind them.
  const plain = Number.isSafeInteger(number)
    ? text.includes('E')
      ? String(BigInt(number))
      : String(number)
    : String(Number(number.toPrecision(15)))
  return typeof format === 'object' && Number.isInteger(number)
    ? plain.padStart(format.digits, '0')
    : plain
}

/** @returns The day with this number, as YYYY-MM-DD. */
function dayOf(serial: number, isFrom1904: boolean): string {
  const days = Math.floor(serial)
  // Spreadsheets count a 29 February 1900.
  const start = isFrom1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30)
  const date = new Date(start + days * 86_400_000)
  return Number.isNaN(date.getTime()) ? String(serial) : date.toISOString().slice(0, 10)
}
