import { CsvError, parse } from 'csv-parse/sync'
import { asMeant, choicesOf } from './header.ts'
import {
  type Dialect,
  type Encoding,
  MAX_ROWS,
  OWN_COLUMNS,
  type Reading,
  type Table,
  TableError,
  tableOf,
} from './table.ts'

/** The maximum bytes of one row. */
const MAX_ROW = 128 * 1024
const DELIMITERS = [',', ';', '\t', '|']
/** So many lines are looked at to find the header, and what separates cells. */
const MAX_FIRST = 20

/**
 * Spreadsheets write commas, semicolons or tabs, and UTF-16 as "Unicode text". Spaces around a cell
 * are ignored, and so are empty rows, empty columns at the end, and what stands above the header:
 * titles, comments (#) and a `sep=` line.
 *
 * @throws {TableError}
 */
export function parseCsv(bytes: Uint8Array, { encoding, header }: Reading = {}): Table {
  assertTable(bytes)
  // Some programs end a text with the character that ended files of CP/M.
  const decoded = decodeText(bytes.at(-1) === 0x1a ? bytes.subarray(0, -1) : bytes, encoding)
  const { text, delimiter, choices } = withoutTitles(decoded.replace(/\r\n?/g, '\n'), header)
  const records = recordsOf(delimiter === '\t' ? quoted(text) : text, delimiter)
  const dialect: Dialect = {
    delimiter,
    lineEnd: /^[^\n]*\r\n/.test(decoded) ? '\r\n' : '\n',
    encoding: unicodeIn(bytes) === 'utf-8' ? 'utf-8' : 'utf-16le',
    // The mark tells spreadsheets that the text is UTF-8.
    hasMark: unicodeIn(bytes) !== 'utf-8' || hasMark(bytes) || encoding !== undefined,
  }
  const lines = records.map(({ record, info }) => ({
    line: info.lines - breaksIn(record),
    cells: record,
  }))
  return tableOf(asMeant(lines), dialect, choices)
}

/** @throws {TableError} for files that people take for tables, because of their name. */
function assertTable(bytes: Uint8Array): void {
  if ([0xd0, 0xcf, 0x11, 0xe0].every((byte, i) => bytes[i] === byte))
    throw new TableError(
      'old_workbook',
      'the file is a workbook of Excel before 2007 (.xls), or has a password: save it as .xlsx without one',
    )
  // Half of UTF-16 are zeros.
  const begin = String.fromCharCode(...bytes.subarray(0, 200).filter((byte) => byte !== 0))
  if (/^(ï»¿|ÿþ|þÿ)?\s*<(!|\?xml|(html|head|body|table|meta|style|div)[\s>])/i.test(begin))
    throw new TableError(
      'web_page',
      'the file is a web page or XML, whatever its name says: open it in a spreadsheet program and save it as .xlsx',
    )
}

/** @returns The text with all lines empty that stand above its header. */
function withoutTitles(text: string, wanted: number | undefined) {
  const [, sign] = /^"?sep=(.)"?(?=\n)/i.exec(text) ?? []
  const lines = firstLines(text).slice(sign === undefined ? 0 : 1)
  const delimiter =
    sign ?? delimiterIn(wanted === undefined ? lines : firstLines(below(text, wanted)))
  const cellsOf = (source: string) =>
    source.split(delimiter).map((cell) => cell.trim().replace(/^"|"$/g, ''))
  const read = lines.map(({ line, source }) => ({ line, cells: cellsOf(source) }))
  // Rows that could not be issued come back with the options of their table.
  const isFailed = OWN_COLUMNS.every((name, i) => read[0]?.cells[i] === name)
  const choices = choicesOf(read, isFailed ? read[0]?.line : wanted)
  const table = below(text, choices.header)
  return { text: table && '\n'.repeat(choices.header - 1) + table, delimiter, choices }
}

/** @returns The text from a line on. */
function below(text: string, line: number): string {
  let at = 0
  for (let i = 1; i < line; i++) {
    at = text.indexOf('\n', at) + 1
    if (at === 0) return ''
  }
  return text.slice(at)
}

/** @returns The first lines that are neither empty nor comments; a cell may have line breaks. */
function firstLines(text: string): { line: number; source: string }[] {
  let line = 1
  const found = text.slice(0, MAX_ROW).matchAll(/(?:(?<![^,;|\t\n])"(?:[^"]|"")*"|[^\n])*\n?/g)
  const lines = [...found].flatMap(([source]) => {
    const begun = line
    line += source.split('\n').length - 1
    return /^(?!\s*#\s)\s*\S/.test(source) ? [{ line: begun, source }] : []
  })
  return lines.slice(0, MAX_FIRST)
}

/** @returns What separates the cells of the first line that most lines below it agree with. */
function delimiterIn(lines: readonly { source: string }[]): string {
  const sources = lines.map(({ source }) => source.replace(/"[^"]*"/g, ''))
  const count = (source: string, delimiter: string) => source.split(delimiter).length
  const most = (source: string) =>
    [...DELIMITERS].sort((a, b) => count(source, b) - count(source, a))[0] ?? ','
  const header = sources.find((source, i) => {
    const delimiter = most(source)
    const rest = sources.slice(i + 1)
    const alike = rest.filter((one) => count(one, delimiter) > 1).length
    return count(source, delimiter) > 1 && alike >= rest.length / 2
  })
  return most(header ?? sources[0] ?? '')
}

/**
 * @returns Tab-separated text in which the cells are quoted that have a quotation mark. Spreadsheets
 * copy a cell as it is, unless it has a line break or a tab.
 */
function quoted(text: string): string {
  return text.replace(/(?<=^|[\t\n])(?:"[^"]*(?:""[^"]*)*"(?=[\t\n]|$)|[^\t\n]+)/g, (cell) =>
    !cell.includes('"') || /^"[^"]*(?:""[^"]*)*"$/.test(cell)
      ? cell
      : `"${cell.replaceAll('"', '""')}"`,
  )
}

/** @returns The number of line breaks in the cells of a record. */
const breaksIn = (record: readonly string[]) =>
  record.reduce((lines, cell) => lines + cell.split('\n').length - 1, 0)

/** @returns The first line of a table. A quoted column name may have line breaks. */
export function headerOf(text: string): string {
  return /^(?:[^"\r\n]|"[^"]*")*/.exec(text.slice(0, MAX_ROW))?.[0] ?? ''
}

/** `lines` is the number of lines read up to the end of the record. */
type CsvRecord = { record: string[]; info: { lines: number } }

function recordsOf(text: string, delimiter: string): CsvRecord[] {
  try {
    return parse(text, {
      delimiter,
      info: true,
      trim: true,
      skip_records_with_empty_values: true,
      skip_empty_lines: true,
      relax_column_count: true,
      max_record_size: MAX_ROW,
      to: MAX_ROWS + 2,
    }) as unknown as CsvRecord[]
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause
    // The messages of the parser may quote cells, which contain personal data.
    const message = CSV_PROBLEMS[cause.code] ?? 'its quotation marks do not fit together'
    const problem = cause.code === 'CSV_MAX_RECORD_SIZE' ? 'row_too_long' : 'quotes'
    throw new TableError(problem, `: ${message}`, { line: Number(cause.lines ?? 1), cause })
  }
}

const CSV_PROBLEMS: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'a quotation mark is not closed',
  INVALID_OPENING_QUOTE: 'there is a quotation mark in the middle of a cell',
  CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE: 'there is text after a closing quotation mark',
  CSV_INVALID_CLOSING_QUOTE: 'there is text after a closing quotation mark',
  CSV_MAX_RECORD_SIZE: `the row has more than ${MAX_ROW} characters`,
}

/**
 * @param encoding The encoding that the user names. A byte order mark takes precedence.
 * @throws {TableError} also for UTF-8 that would be read in another encoding.
 */
export function decodeText(bytes: Uint8Array, encoding?: Encoding): string {
  const isUnicode = unicodeIn(bytes) !== 'utf-8' || hasMark(bytes)
  const text = decodedIn(unicodeIn(bytes), bytes)
  if (encoding === undefined || isUnicode) {
    if (text !== undefined) return text
    throw new TableError('not_utf8', 'the text is not UTF-8: save it as "CSV UTF-8"')
  }
  // Text in another encoding is almost never valid UTF-8, so the option is wrong.
  if (text !== undefined && /[^\0-\x7f]/.test(text))
    throw new TableError('is_utf8', 'the text is UTF-8')
  const decoded = decodedIn(encoding, bytes)
  if (decoded === undefined)
    throw new TableError('not_encoding', `the text is not in the encoding ${encoding}`)
  return encoding === 'windows-1252' ? decoded.replace(/[\x80-\x9f]/g, fromWindows1252) : decoded
}

/** @returns `undefined` for bytes that the encoding does not have. */
function decodedIn(encoding: string, bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * The characters from 0x80. Decoders of Node.js before 24 decode windows-1252 as Latin-1, without
 * these.
 */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

function fromWindows1252(control: string): string {
  return WINDOWS_1252[control.charCodeAt(0) - 0x80] ?? control
}

/** @returns What the text has if it is Unicode. Without a mark, zeros are half of UTF-16. */
function unicodeIn(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  const zeros = [0, 0]
  for (const [i, byte] of bytes.subarray(0, 1024).entries())
    if (byte === 0) zeros[i % 2] = (zeros[i % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || odd > even) return 'utf-16le'
  return (bytes[0] === 0xfe && bytes[1] === 0xff) || even > 0 ? 'utf-16be' : 'utf-8'
}

function hasMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}
