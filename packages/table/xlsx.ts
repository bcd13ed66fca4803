import { createGrid, type Place, tooLarge } from './grid.ts'
import type { Parts } from './parts.ts'
import { MAX_SHEETS, type Sheet, tableOfSheets } from './sheets.ts'
import { type Format, formatOf, type Manner, type Shown, shownNumber, shownText } from './shown.ts'
import type { Line, Reading, Table } from './table.ts'
import { noWorkbook, walkXml } from './xml.ts'

/** The maximum contents of cells that are kept with what they show. */
const MAX_KNOWN = 10_000

/** A cell as it is written: its place from 0, and its content, which its type says how to read. */
type Cell = Place & {
  type: string
  style: number
  isFormula: boolean
  content: string
}
/** What the cells of a sheet refer to. */
type Book = Manner & { shared: readonly string[]; formats: readonly Format[] }

const GENERAL = formatOf(0)
const MOMENT = formatOf(22)

/**
 * Reads a sheet of a workbook (Office Open XML), by itself the first one that is visible and not
 * empty. Cells have the text that their user sees, but a whole date becomes YYYY-MM-DD, and a
 * number without a format has all its digits. A formula has its last result, and each cell of a
 * merged range the text of the range. Titles above the header and empty rows are left out.
 *
 * @throws {TableError}
 */
export function parseXlsx({ text, related }: Parts, reading: Reading): Table {
  const { language = 'en' } = reading
  const main = related().find(({ type }) => type === 'officeDocument')?.path ?? '/xl/workbook.xml'
  const parts = related(main)
  const { sheets, isFrom1904 } = workbookOf(text(main) ?? '')
  const found = sheets.flatMap(({ id, ...sheet }) => {
    const { type = '', path = '' } = parts.find((part) => part.id === id) ?? {}
    // Sheets of another type hold a chart, a dialog or a macro.
    return /sheet$/.test(type) && type !== 'worksheet' ? [] : [{ path, ...sheet }]
  })
  const usual = (type: string) =>
    text(parts.find((part) => part.type === type)?.path ?? `/xl/${type.toLowerCase()}.xml`)
  const shared = sharedIn(usual('sharedStrings') ?? '')
  const formats = formatsIn(usual('styles') ?? '')
  const linesIn = ({ path }: { path: string }) => {
    const sheet = text(path)
    if (sheet === undefined) throw noWorkbook()
    return linesOf(sheet, { shared, formats, language, isFrom1904 })
  }
  return tableOfSheets(found, linesIn, reading)
}

function workbookOf(xml: string) {
  const sheets: (Sheet & { id: string | undefined })[] = []
  let isFrom1904 = false
  walkXml(xml, {
    open(name, attributes) {
      if (name === 'workbookPr') isFrom1904 = /^(1|true)$/.test(attributes().date1904 ?? '')
      if (name !== 'sheet') return
      if (sheets.length >= MAX_SHEETS) throw tooLarge()
      const { state = '', name: title = '', ...named } = attributes()
      const key = Object.keys(named).find((one) => one.endsWith(':id')) ?? 'id'
      sheets.push({ id: named[key], name: title, isHidden: /hidden$/i.test(state) })
    },
  })
  return { sheets, isFrom1904 }
}

/** @returns The shared texts, without the readings that Japanese ones may have. */
function sharedIn(xml: string): string[] {
  const texts: string[] = []
  let isText = false
  let content = ''
  walkXml(xml, {
    open(name) {
      isText = name === 't'
    },
    text(part) {
      if (isText) content += part
    },
    close(name) {
      isText = false
      if (name !== 'si') return
      texts.push(unescaped(content))
      content = ''
    },
  })
  return texts
}

/** @returns The text without `_x000D_`, as spreadsheets write a character. */
function unescaped(text: string): string {
  return text.replace(/_x([0-9A-F]{4})_/gi, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
}

/** @returns The format of each style that cells name. */
function formatsIn(xml: string): Format[] {
  const codes = new Map<number, string>()
  const known = new Map<number, Format>()
  const formats: Format[] = []
  let list = ''
  walkXml(xml, {
    open(name, attributes) {
      if (name === 'numFmts' || name === 'cellXfs') list = name
      const isFormat = name === 'numFmt' && list === 'numFmts'
      if (!isFormat && !(name === 'xf' && list === 'cellXfs')) return
      const { numFmtId, formatCode = '' } = attributes()
      const id = Number(numFmtId ?? 0)
      if (isFormat) codes.set(id, unescaped(formatCode))
      else {
        const format = known.get(id) ?? formatOf(id, codes.get(id))
        known.set(id, format)
        formats.push(format)
      }
    },
    close(name) {
      if (name === list) list = ''
    },
  })
  return formats
}

/** @returns The rows that are not empty. */
function linesOf(xml: string, book: Book): Line[] {
  const grid = createGrid()
  const known = new Map<string, Shown>()
  function shownOnce(cell: Cell): Shown {
    const key = [cell.type, cell.style, cell.isFormula, cell.content].join()
    const shown = known.get(key) ?? shownOf(cell, book)
    if (known.size < MAX_KNOWN) known.set(key, shown)
    return shown
  }
  walkSheet(xml, {
    cell(cell) {
      const isEmpty = cell.content === '' && !cell.isFormula && cell.type !== 'e'
      grid.put(cell, isEmpty ? undefined : () => shownOnce(cell))
    },
    merged(ref) {
      const [from, to] = ref.split(':').map(placeOf)
      if (from && to) grid.merge(from, to)
    },
  })
  return grid.lines()
}

/** @returns The place that a reference such as `AB12` names. */
function placeOf(ref: string): Place | undefined {
  const [, letters = '', digits = ''] = /^\$?([A-Z]{1,3})\$?([0-9]{1,7})$/i.exec(ref) ?? []
  if (digits === '') return undefined
  const column = [...letters.toUpperCase()].reduce(
    (sum, letter) => sum * 26 + letter.charCodeAt(0) - 64,
    0,
  )
  return { row: Number(digits) - 1, column: column - 1 }
}

/** @param take What is done with each cell, and with the reference of each merged range. */
function walkSheet(xml: string, take: { cell(cell: Cell): void; merged(ref: string): void }): void {
  let cell: Cell | undefined
  let row = -1
  let column = -1
  let isContent = false
  walkXml(xml, {
    open(name, attributes) {
      if (name === 'row') {
        row = Number(attributes().r ?? row + 2) - 1
        column = -1
      } else if (name === 'c') {
        const { r = '', t = 'n', s = '0' } = attributes()
        const place = placeOf(r) ?? { row, column: column + 1 }
        column = place.column
        cell = { ...place, type: t, style: Number(s), isFormula: false, content: '' }
      } else if (name === 'f' && cell) cell.isFormula = true
      else if (name === 'mergeCell') take.merged(attributes().ref ?? '')
      isContent = name === (cell?.type === 'inlineStr' ? 't' : 'v')
    },
    text(part) {
      if (cell && isContent) cell.content += part
    },
    close(name) {
      isContent = false
      if (name !== 'c' || !cell) return
      take.cell(cell)
      cell = undefined
    },
  })
}

const NO_RESULT = { problem: 'no_result' } as const

function shownOf({ type, style, isFormula, content }: Cell, book: Book): Shown {
  const format = book.formats[style] ?? GENERAL
  if (type === 'e') return { text: content, note: NO_RESULT }
  if (isFormula && content === '' && type !== 'str') return { text: '', note: NO_RESULT }
  if (type === 's') {
    const text = content === '' ? '' : book.shared[Number(content)]
    return text === undefined ? { text: '', note: NO_RESULT } : shownText(text.trim(), format)
  }
  if (type === 'b') return { text: /^(1|true)$/.test(content) ? 'TRUE' : 'FALSE' }
  if (type === 'd') {
    const days = Date.parse(/T.*[^Z]$/.test(content) ? `${content}Z` : content) / 86_400_000
    if (Number.isNaN(days)) return { text: content.trim() }
    return shownNumber(days + 25_569, format.date.year ? format : MOMENT, {
      ...book,
      isFrom1904: false,
    })
  }
  if (type === 'n' && /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(content.trim()))
    return shownNumber(Number(content), format, book)
  return shownText(unescaped(content).trim(), format)
}
