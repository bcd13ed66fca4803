import { CsvError, parse } from 'csv-parse/sync'
import { InputError } from './errors.ts'

/** A line of a table: the cells by the names of their columns. */
export type Row = {
  /** Where it begins in the file, from 1; the header is line 1. */
  line: number
  cells: Record<string, string>
}
export type Table = { columns: string[]; rows: Row[] }

/** Bytes of one row. */
const MAX_ROW = 128 * 1024
const DELIMITERS = [',', ';', '\t']

/** Files that spreadsheets and people make are large enough with this. */
export const MAX_ROWS = 100_000

/**
 * Spreadsheets write commas, semicolons or tabs, and UTF-16 as "Unicode text". Spaces around a cell
 * do not count, and neither do empty rows.
 *
 * @throws {InputError} `bad_table`, naming the line.
 */
export function parseCsv(bytes: Uint8Array): Table {
  const text = decodeText(bytes).replace(/\r\n?/g, '\n')
  const [header = ''] = text.split('\n', 1)
  const count = (delimiter: string) => header.split(delimiter).length
  const delimiter = [...DELIMITERS].sort((a, b) => count(b) - count(a))[0] ?? ','
  const [first, ...records] = recordsOf(text, delimiter)
  const columns = first?.record ?? []
  if (columns.length === 0) throw badTable('the first line must name the columns')
  const repeated = columns.find((name, i) => columns.indexOf(name) !== i)
  if (repeated !== undefined) throw badTable(`two columns have the name "${repeated}"`)
  if (records.length > MAX_ROWS) throw badTable(`more than ${MAX_ROWS} rows: split the file`)
  return { columns, rows: records.map((record) => rowOf(record, columns)) }
}

/** `lines`: those read by the end of the record. */
type CsvRecord = { record: string[]; info: { lines: number } }

function recordsOf(text: string, delimiter: string): CsvRecord[] {
  try {
    return parse(text, {
      ...{ delimiter, info: true, trim: true, skip_records_with_empty_values: true },
      ...{ skip_empty_lines: true, relax_column_count: true },
      ...{ max_record_size: MAX_ROW, to: MAX_ROWS + 2 },
    }) as unknown as CsvRecord[]
  } catch (cause) {
    // Its messages may quote cells, which are about people.
    if (cause instanceof CsvError)
      throw badTable(`line ${cause.lines ?? '?'}: ${CSV_PROBLEMS[cause.code] ?? cause.code}`, cause)
    throw cause
  }
}

const CSV_PROBLEMS: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'a quotation mark is never closed',
  INVALID_OPENING_QUOTE: 'a quotation mark in the middle of a cell',
  CSV_INVALID_CLOSING_QUOTE: 'text after a closing quotation mark',
  CSV_MAX_RECORD_SIZE: `a row of more than ${MAX_ROW} characters`,
}

function rowOf({ record, info }: CsvRecord, columns: string[]): Row {
  const within = record.reduce((lines, cell) => lines + cell.split('\n').length - 1, 0)
  const line = info.lines - within
  if (record.length !== columns.length)
    throw badTable(`line ${line}: ${record.length} cells, but there are ${columns.length} columns`)
  return { line, cells: Object.fromEntries(columns.map((name, i) => [name, record[i] ?? ''])) }
}

/** @throws {InputError} `bad_table` */
export function decodeText(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe
  try {
    return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw badTable('the text is not UTF-8: save it as "CSV UTF-8"', cause)
  }
}

export function badTable(message: string, cause?: unknown): InputError {
  return new InputError('bad_table', message, cause)
}

/** @returns One line with its line feed. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\n`
}
