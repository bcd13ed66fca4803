import { createGrid, fullBudget, type Grid, tooLarge } from './grid.ts'
import { MAX_SHEETS, type Sheet, tableOfSheets } from './sheets.ts'
import { digitsOf, losesDigits, type Shown } from './shown.ts'
import type { Reading, Table } from './table.ts'
import { noWorkbook, walkXml } from './xml.ts'

/** The maximum spaces that one tag stands for. */
const MAX_SPACES = 100

/** The attributes of a cell. */
type Cell = Record<string, string>
type OdsSheet = Sheet & { grid: Grid }

/**
 * Reads a sheet of an OpenDocument spreadsheet as `parseXlsx` does. Its cells have the text that
 * their user saw, in the language of the file.
 *
 * @param content The part `content.xml`.
 * @throws {TableError}
 */
export function parseOds(content: string, reading: Reading): Table {
  return tableOfSheets(sheetsIn(content), ({ grid }) => grid.lines(), reading)
}

function sheetsIn(content: string): OdsSheet[] {
  const sheets: OdsSheet[] = []
  const left = fullBudget()
  const hiddenStyles = new Set<string>()
  let style = ''
  /** The place of the next cell. */
  let row = 0
  let column = 0
  let rowCopies = 1
  let cell: Cell | undefined
  let text = ''
  let isText = false

  walkXml(content, {
    open(name, attributes) {
      if (name === 'style') style = attributes()['style:name'] ?? ''
      else if (name === 'table-properties') {
        if (attributes()['table:display'] === 'false') hiddenStyles.add(style)
      } else if (name === 'table') {
        const { 'table:name': title = '', 'table:style-name': its = '' } = attributes()
        if (sheets.length >= MAX_SHEETS) throw tooLarge()
        sheets.push({ name: title, isHidden: hiddenStyles.has(its), grid: createGrid(left) })
        row = 0
      } else if (name === 'table-row') {
        rowCopies = countOf(attributes()['table:number-rows-repeated'])
        column = 0
      } else if (name === 'table-cell' || name === 'covered-table-cell') {
        cell = attributes()
        text = ''
      } else if (name === 'p') {
        isText = true
        if (text !== '') text += '\n'
      } else if (isText && name === 's')
        text += ' '.repeat(Math.min(countOf(attributes()['text:c']), MAX_SPACES))
      else if (isText && name === 'tab') text += '\t'
      else if (isText && name === 'line-break') text += '\n'
    },
    text(part) {
      if (cell && isText) text += part
    },
    close(name) {
      if (name === 'p') isText = false
      else if (name === 'table-row') row += rowCopies
      else if (cell && (name === 'table-cell' || name === 'covered-table-cell')) {
        const copies = countOf(cell['table:number-columns-repeated'])
        const shown = name === 'table-cell' ? shownOf(cell, text.trim()) : { text: '' }
        if (shown.text !== '' || shown.note) put(cell, shown, copies)
        column += copies
        cell = undefined
      }
    },
  })

  function put(cell: Cell, shown: Shown, copies: number): void {
    const grid = sheets.at(-1)?.grid
    for (let y = row; y < row + rowCopies; y++)
      for (let x = column; x < column + copies; x++) grid?.put({ row: y, column: x }, () => shown)
    const wide = countOf(cell['table:number-columns-spanned'])
    const high = countOf(cell['table:number-rows-spanned'])
    if (wide > 1 || high > 1)
      grid?.merge({ row, column }, { row: row + high - 1, column: column + wide - 1 })
  }

  return sheets
}

/** @throws {TableError} `no_workbook` */
function countOf(text = '1'): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw noWorkbook()
  return Number(text)
}

function shownOf(cell: Cell, text: string): Shown {
  const type = cell['office:value-type']
  const isError = cell['table:formula'] !== undefined && type === undefined
  if (isError || cell['calcext:value-type'] === 'error')
    return { text, note: { problem: 'no_result' } }
  if (type === 'boolean')
    return { text: cell['office:boolean-value'] === 'true' ? 'TRUE' : 'FALSE' }
  if (type === 'date') return shownDay(cell['office:date-value'] ?? '', text)
  const number = Number(cell['office:value'] ?? Number.NaN)
  if (type === undefined || Number.isNaN(number))
    return { text: text || (cell['office:string-value'] ?? '') }
  const value = digitsOf(number)
  const note = {
    ...(value !== text && { value }),
    ...(losesDigits(number) && { problem: 'digits_lost' as const }),
  }
  return Object.keys(note).length > 0 ? { text, note } : { text }
}

/** @returns A day that is shown as a whole as YYYY-MM-DD, with the time that is shown beside it. */
function shownDay(date: string, text: string): Shown {
  const [, day = '', year = '', number = '', time = ''] =
    /^((\d{4})-\d\d-(\d\d))(?:T(\d\d:\d\d(?::\d\d)?))?/.exec(date) ?? []
  if (day === '') return { text }
  const numbers = text.match(/\d+/g) ?? []
  const at = numbers.findLastIndex((one) => one.length > 1 && year.endsWith(one))
  const isWhole = at >= 0 && numbers.some((one, i) => i !== at && Number(one) === Number(number))
  if (!isWhole) return text === day ? { text } : { text, note: { value: day } }
  const isTimed = text.includes(':') && !/^(00:?)*$/.test(time)
  return isTimed ? { text: `${day} ${time}`, note: { value: day } } : { text: day }
}
