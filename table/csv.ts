import { CsvError, parse } from 'csv-parse/sync'

/** Why a table cannot be read. */
export type TableProblem =
  | 'no_columns'
  | 'duplicate_column'
  | 'too_many_rows'
  | 'quotes'
  | 'row_too_long'
  | 'cell_count'
  /** The text is not UTF-8, and no encoding was named. */
  | 'not_utf8'
  /** The text is UTF-8, but another encoding was named. */
  | 'is_utf8'
  /** The file is no workbook of a spreadsheet program, or is protected by a password. */
  | 'no_workbook'
  /** The file is of Excel before 2007, or protected by a password. */
  | 'old_workbook'
  /** The file is HTML, as some programs write .xls. */
  | 'web_page'
  /** The workbook is larger than any table that people make. */
  | 'workbook_too_large'
  /** The workbook has what no spreadsheet program writes. */
  | 'workbook_strange'
  /** Ranges of more cells are merged than tables have. */
  | 'too_many_merged'

/** Thrown for a table that cannot be read. The message names the line and repeats no cell. */
export class TableError extends Error {
  override name = 'TableError'
  readonly problem: TableProblem
  /** The line of the file, from 1. */
  readonly line: number | undefined

  constructor(
    problem: TableProblem,
    message: string,
    { line, cause }: { line?: number | undefined; cause?: unknown } = {},
  ) {
    super(line === undefined ? message : `line ${line}${message}`, { cause })
    this.problem = problem
    this.line = line
  }
}

/** What a cell of a workbook has beside its text. */
export type Note = {
  /** The number or day that it holds, if its text says something else. */
  value?: string
  /** It has an error or no result; or a number of which spreadsheets lose digits. */
  problem?: 'no_result' | 'digits_lost'
}

/** A line of a table, with the cells by the names of their columns. */
export type Row = {
  /** The line of the file in which it begins, from 1; the header is line 1. */
  line: number
  cells: Record<string, string>
  notes?: Record<string, Note>
}
/** A line whose columns have no names yet. It may lack cells at its end. */
export type Line = {
  line: number
  cells: readonly string[]
  notes?: readonly (Note | undefined)[]
}
export type Table = { columns: string[]; rows: Row[]; dialect: Dialect }

/** How a table is written. A spreadsheet opens a table in its own dialect on a double click. */
export type Dialect = {
  delimiter: string
  lineEnd: '\n' | '\r\n'
  encoding: 'utf-8' | 'utf-16le'
  /** Whether the table begins with a byte order mark. */
  hasMark: boolean
}

/** The dialect of RFC 4180, except for its line ends. */
export const PLAIN: Dialect = {
  delimiter: ',',
  lineEnd: '\n',
  encoding: 'utf-8',
  hasMark: false,
}

/** Spreadsheets recognize UTF-8 in a table that they open on a double click by its mark. */
export const FOR_SPREADSHEETS: Dialect = { ...PLAIN, hasMark: true }

/**
 * Encodings that spreadsheets use besides UTF-8 and UTF-16. A file does not say which one it has.
 */
export const ENCODINGS = ['windows-1252', 'windows-1250'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** The maximum bytes of one row. */
const MAX_ROW = 128 * 1024
const DELIMITERS = [',', ';', '\t', '|']
/** Only so many lines above the header are looked at. */
const MAX_PRELUDE = 20

/** Columns that are added to tables besides those of a document and its `publicId`. */
export const OWN_COLUMNS = ['line', 'problem']

/** Files that spreadsheets and people make have fewer rows than this. */
export const MAX_ROWS = 100_000

/**
 * Spreadsheets write commas, semicolons or tabs, and UTF-16 as "Unicode text". Spaces around a cell
 * are ignored, and so are empty rows, empty columns at the end, and a `sep=` line and comments (#)
 * at the beginning. Tables of {@link formatTable} are recognized by their columns.
 *
 * @throws {TableError}
 */
export function parseCsv(bytes: Uint8Array, encoding?: Encoding): Table {
  assertTable(bytes)
  // Some programs end a text with the character that ended files of CP/M.
  const decoded = decodeText(bytes.at(-1) === 0x1a ? bytes.subarray(0, -1) : bytes, encoding)
  const { text, delimiter } = withoutPrelude(decoded.replace(/\r\n?/g, '\n'))
  const [first, ...records] = recordsOf(delimiter === '\t' ? quoted(text) : text, delimiter)
  const isOurs = first?.record.some((name) => [...OWN_COLUMNS, 'publicId'].includes(name))
  const read = isOurs ? fromHarmless : (cell: string) => cell
  const dialect: Dialect = {
    delimiter,
    lineEnd: /^[^\n]*\r\n/.test(decoded) ? '\r\n' : '\n',
    ...{
      encoding: unicodeIn(bytes) === 'utf-8' ? 'utf-8' : 'utf-16le',
      // The mark tells spreadsheets that the text is UTF-8.
      hasMark: unicodeIn(bytes) !== 'utf-8' || hasMark(bytes) || encoding !== undefined,
    },
  }
  const lines = records.map(({ record, info }) => ({
    line: info.lines - breaksIn(record),
    cells: record.map(read),
  }))
  return tableOf((first?.record ?? []).map(read), lines, dialect)
}

/** @throws {TableError} for files that people take for tables, because of their name. */
function assertTable(bytes: Uint8Array): void {
  if ([0xd0, 0xcf, 0x11, 0xe0].every((byte, i) => bytes[i] === byte))
    throw new TableError(
      'old_workbook',
      'the file is a workbook of Excel before 2007 (.xls), or has a password: save it as .xlsx without one',
    )
  if (
    /^\s*<(!doctype|html|head|table|meta|\?xml)/i.test(
      String.fromCharCode(...bytes.subarray(0, 99)),
    )
  )
    throw new TableError(
      'web_page',
      'the file is a web page, whatever its name says: open it in a spreadsheet program and save it as .xlsx',
    )
}

/** @returns The text with its first lines empty that are no part of the table. */
function withoutPrelude(text: string): { text: string; delimiter: string } {
  const [, sign] = /^"?sep=(.)"?(?=\n)/i.exec(text) ?? []
  const lines = text.split('\n', MAX_PRELUDE)
  const first = sign === undefined ? 0 : 1
  const begin = lines.findIndex((line, i) => i >= first && /^\s*[^#\s]/.test(line))
  const header = headerOf(lines.slice(Math.max(begin, first)).join('\n'))
  const count = (line: string, delimiter: string) =>
    line.replace(/"[^"]*"/g, '').split(delimiter).length
  const delimiter =
    sign ?? [...DELIMITERS].sort((a, b) => count(header, b) - count(header, a))[0] ?? ','
  // A header may begin with # too; then it has as many cells as the next line.
  const isComment = (line: string) =>
    count(line, delimiter) !== count(header, delimiter) || /^#\s/.test(line)
  const end = lines
    .slice(0, Math.max(begin, first))
    .findLastIndex((line, i) => i < first || isComment(line))
  const length = lines.slice(0, end + 1).join('\n').length
  return { text: '\n'.repeat(Math.max(end, 0)) + text.slice(length), delimiter }
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

/**
 * @param header The names of the columns.
 * @throws {TableError}
 */
export function tableOf(
  header: readonly string[],
  lines: readonly Line[],
  dialect: Dialect,
): Table {
  const columns = withoutEnd(header)
  if (columns.length === 0)
    throw new TableError('no_columns', 'the first line must name the columns')
  const repeated = columns.find((name, i) => columns.indexOf(name) !== i)
  if (repeated !== undefined)
    throw new TableError('duplicate_column', `duplicate column: "${repeated}"`)
  if (lines.length > MAX_ROWS)
    throw new TableError('too_many_rows', `more than ${MAX_ROWS} rows: split the file`)
  return { columns, rows: lines.map((line) => rowOf(line, columns)), dialect }
}

/** @returns The cells up to the last one that is not empty. */
function withoutEnd(cells: readonly string[]): string[] {
  return cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1)
}

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

function rowOf({ line, cells, notes = [] }: Line, columns: readonly string[]): Row {
  const count = Math.min(cells.length, Math.max(withoutEnd(cells).length, columns.length))
  if (count !== columns.length)
    throw new TableError(
      'cell_count',
      ` has ${count} cells, but there are ${columns.length} columns`,
      { line },
    )
  const noted = columns.flatMap((name, i) => (notes[i] ? [[name, notes[i]] as const] : []))
  return {
    line,
    cells: Object.fromEntries(columns.map((name, i) => [name, cells[i] ?? ''])),
    ...(noted.length > 0 && { notes: Object.fromEntries(noted) }),
  }
}

/**
 * @param encoding The encoding that the user names. A byte order mark takes precedence.
 * @throws {TableError} also for UTF-8 that would be read in another encoding.
 */
export function decodeText(bytes: Uint8Array, encoding?: Encoding): string {
  const isUnicode = unicodeIn(bytes) !== 'utf-8' || hasMark(bytes)
  const text = unicodeOf(bytes)
  if (encoding === undefined || isUnicode) {
    if (text !== undefined) return text
    throw new TableError('not_utf8', 'the text is not UTF-8: save it as "CSV UTF-8"')
  }
  // Text in another encoding is almost never valid UTF-8, so the option is wrong.
  if (text !== undefined && /[^\0-\x7f]/.test(text))
    throw new TableError('is_utf8', 'the text is UTF-8')
  const decoded = new TextDecoder(encoding, { fatal: true }).decode(bytes)
  return encoding === 'windows-1252' ? decoded.replace(/[\x80-\x9f]/g, fromWindows1252) : decoded
}

/** @returns `undefined` for bytes that are not Unicode. */
function unicodeOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(unicodeIn(bytes), { fatal: true }).decode(bytes)
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

/** @returns An escape such as `\u001b`. */
export const escapeCharacter = (character: string) =>
  `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`

/** A quick check for text that {@link toHarmless} may change, which most cells do not have. */
const SUSPECT = /^[ '"=+@-]|[,;\\\p{Cc}]/u

/**
 * Text of others must do nothing in a spreadsheet or a terminal. An apostrophe goes in front of
 * text that may be a formula: at the start of a cell, and after characters that spreadsheets of
 * other countries read as separators. Control characters become `\u001b`; backslashes in front of
 * such text are doubled.
 *
 * @returns Text that {@link fromHarmless} can turn back.
 */
function toHarmless(text: string): string {
  if (!SUSPECT.test(text)) return text
  return text
    .replace(
      /(?<!\\)(\\*)(u00(?:[0189][0-9a-f]|7f)|(?![\t\n])\p{Cc})/gu,
      (_, slashes: string, what: string) =>
        slashes + slashes + (what.length === 1 ? escapeCharacter(what) : what),
    )
    .replace(/^(?='*[\t\n])|(?<=^|[,;\t\n])(?=[ '"]*[=+@-])/g, "'")
}

function fromHarmless(cell: string): string {
  return cell
    .replace(/^'(?='*[\t\n])|(?<=^|[,;\t\n])'(?=[ '"]*[=+@-])/g, '')
    .replace(
      /(?<!\\)(\\+)u(00(?:[0189][0-9a-f]|7f))/g,
      (_, { length }: string, code: string) =>
        '\\'.repeat(length / 2) +
        (length % 2 === 0 ? `u${code}` : String.fromCharCode(Number.parseInt(code, 16))),
    )
}

/** @returns The bytes of a table with text of others; {@link parseCsv} reads it back. */
export function formatTable(
  columns: readonly string[],
  rows: readonly Record<string, string | undefined>[],
  dialect = PLAIN,
): Uint8Array {
  return encode(tableText(columns, rows, dialect), dialect)
}

/** @returns The text of that table. */
export function tableText(
  columns: readonly string[],
  rows: readonly Record<string, string | undefined>[],
  dialect = PLAIN,
): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? ''))]
  return textOf(
    lines.map((cells) => cells.map(toHarmless)),
    dialect,
  )
}

/** @returns One line with its line feed. */
export function csvLine(cells: readonly string[], delimiter = ','): string {
  const quoted = cells.map((cell) =>
    /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell,
  )
  return `${quoted.join(delimiter)}\n`
}

/** @returns The bytes of a table. Line breaks within a cell remain line feeds. */
export function formatCsv(lines: readonly (readonly string[])[], dialect: Dialect): Uint8Array {
  return encode(textOf(lines, dialect), dialect)
}

function textOf(
  lines: readonly (readonly string[])[],
  { delimiter, lineEnd, hasMark }: Dialect,
): string {
  const text = lines.map((cells) => `${csvLine(cells, delimiter).slice(0, -1)}${lineEnd}`).join('')
  return `${hasMark ? '\ufeff' : ''}${text}`
}

function encode(text: string, { encoding }: Dialect): Uint8Array {
  if (encoding === 'utf-8') return new TextEncoder().encode(text)
  const view = new DataView(new ArrayBuffer(2 * text.length))
  for (let i = 0; i < text.length; i++) view.setUint16(2 * i, text.charCodeAt(i), true)
  return new Uint8Array(view.buffer)
}
