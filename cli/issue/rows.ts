import { createHash } from 'node:crypto'
import { toCanonical } from '#document/canonical.ts'
import type { DocumentFields } from '#document/document.ts'
import type { FieldProblem } from '#document/errors.ts'
import { type JsonValue, parseStrictJson } from '#document/json.ts'
import { readNewDocument } from '#document/new-document.ts'
import {
  badTable,
  type Dialect,
  decodeText,
  type Encoding,
  MAX_ROWS,
  OWN_COLUMNS,
  PLAIN,
  parseCsv,
  type Row,
} from '../csv.ts'
import { UsageError } from '../errors.ts'

/** A row that can be issued. */
export type GoodRow = {
  line: number
  fields: DocumentFields
  /** The sha-256 of the canonical fields in hexadecimal. The same row gives the same document. */
  key: string
}
export type BadRow = {
  line: number
  cells: Record<string, string>
  problems: FieldProblem[]
  /** The line of an identical row, which is issued instead. `failed.csv` leaves this one out. */
  sameAs?: number
}
export type CheckedRows = {
  good: GoodRow[]
  bad: BadRow[]
  /** The cells for `failed.csv` of a good row that is refused, by its key. */
  cells: ReadonlyMap<string, Row['cells']>
  /** The dialect of the table, for tables that are made from it. */
  dialect: Dialect
}

const FIELDS = ['subjectName', 'subjectId', 'category', 'issuedAt', 'expiresAt']
const DATES = ['issuedAt', 'expiresAt']
const METADATA = 'metadata.'
const BY_LOWER_CASE = new Map(FIELDS.map((field) => [field.toLowerCase(), field]))

/** How a spreadsheet writes dates: day, month, year, or month, day, year. */
export const DATE_ORDERS = ['dmy', 'mdy'] as const
export type DateOrder = (typeof DATE_ORDERS)[number]

const LOCAL_DATE = /^(\d{1,2})[./-](\d{1,2})[./-](\d{4})$/
const SHORT_DATE = /^\d{1,2}[./-]\d{1,2}[./-]\d{2}$/

/** The values of `--map`, `--set`, `--dates` and `--encoding`. */
export type Mapping = {
  /** The field of each column; an empty field leaves the column out. */
  map: ReadonlyMap<string, string>
  /** Values for all rows, by field. */
  set: ReadonlyMap<string, string>
  /** Absent = dates are YYYY-MM-DD. */
  dates?: DateOrder | undefined
  encoding?: Encoding | undefined
}

/** @param map `column=field`; `column=` leaves one out. @throws {UsageError} */
export function readMapping(map: readonly string[] = [], set: readonly string[] = []): Mapping {
  const mapping = {
    map: new Map(map.map((text) => pairOf('map', text, text.lastIndexOf('=')))),
    set: pairsOf('set', set),
  }
  for (const field of mapping.map.values()) if (field !== '') assertField(field)
  return mapping
}

/** @param texts `field=value`. @throws {UsageError} */
export function pairsOf(option: string, texts: readonly string[] = []): Map<string, string> {
  const pairs = new Map(texts.map((text) => pairOf(option, text, text.indexOf('='))))
  for (const field of pairs.keys()) assertField(field)
  return pairs
}

function pairOf(option: string, text: string, at: number): [string, string] {
  if (at < 1) throw new UsageError(`--${option} must be <name>=<value>`)
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}

function assertField(name: string): void {
  if (!isField(name))
    throw new UsageError(`${name} is not a field: ${FIELDS.join(', ')} or metadata.<key>`)
}

/** @returns Whether a column of this name is a field of a document. */
export function isField(name: string): boolean {
  return FIELDS.includes(name) || (name.startsWith(METADATA) && name.length > METADATA.length)
}

/**
 * Reads a table of documents and checks every row with the rules of the REST API.
 *
 * @param now Milliseconds of the Unix epoch.
 * @throws {InputError} `bad_table` if it is not a table. @throws {UsageError} for unknown columns.
 */
export function readRows(bytes: Uint8Array, mapping: Mapping, now: number): CheckedRows {
  const isNdjson = /^[\s\ufeff]*\{/.test(new TextDecoder().decode(bytes.subarray(0, 1024)))
  const { sent, dialect } = isNdjson
    ? { sent: fromNdjson(decodeText(bytes, mapping.encoding), mapping), dialect: PLAIN }
    : fromCsv(bytes, mapping)
  const good: GoodRow[] = []
  const bad: BadRow[] = []
  const cellsByKey = new Map<string, Row['cells']>()
  const lines = new Map<string, number>()
  for (const { line, cells, value } of sent) {
    const read = readNewDocument(value, now)
    if ('problems' in read) {
      bad.push({ line, cells, problems: [...read.problems] })
      continue
    }
    const key = createHash('sha256').update(toCanonical(read.fields)).digest('hex')
    const before = lines.get(key)
    if (before === undefined) {
      good.push({ line, fields: read.fields, key })
      cellsByKey.set(key, cells)
    } else {
      const problems = [{ field: '', message: `is a duplicate of line ${before}` }]
      bad.push({ line, cells, problems, sameAs: before })
    }
    lines.set(key, before ?? line)
  }
  return { good, bad, cells: cellsByKey, dialect }
}

type JsonObject = Record<string, JsonValue>
type Sent = { line: number; cells: Record<string, string>; value: JsonValue }

function fromCsv(bytes: Uint8Array, mapping: Mapping): { sent: Sent[]; dialect: Dialect } {
  const { columns, rows, dialect } = parseCsv(bytes, mapping.encoding)
  if (columns.includes('publicId'))
    throw badTable('the table has the column publicId: these documents are already issued')
  const fields = fieldsOf(columns, mapping)
  const sent = rows.map((row) => {
    const cells = withDates(row.cells, fields, mapping.dates)
    const value = documentOf(cells, fields, mapping.set)
    return { line: row.line, cells: byFields(cells, fields, mapping.set), value }
  })
  return { sent, dialect }
}

/**
 * @returns A row for `failed.csv`, which can be issued without the options of its table: with the
 * names of fields and the values of `--set`. Columns that were left out are in parentheses.
 */
function byFields(
  cells: Row['cells'],
  fields: ReadonlyMap<string, string>,
  set: Mapping['set'],
): Row['cells'] {
  const isAgain = isFailedTable(Object.keys(cells))
  const named = Object.entries(cells).flatMap(([column, text]) => {
    const field = fields.get(column)
    if (field !== undefined) return [[field, text] as const]
    if (OWN_COLUMNS.includes(column)) return []
    return [[isAgain && LEFT_OUT.test(column) ? column : `(${column})`, text] as const]
  })
  return Object.fromEntries([...named, ...[...set].filter(([, text]) => text !== '')])
}

/**
 * A column of `failed.csv` that is not a field. The parentheses keep a mistyped field name from
 * being taken for one.
 */
const LEFT_OUT = /^\(.*\)$/s

function isFailedTable(columns: readonly string[]): boolean {
  return OWN_COLUMNS.every((name, i) => columns[i] === name)
}

/** @returns The field of each column that has one. @throws {UsageError} */
function fieldsOf(columns: readonly string[], { map }: Mapping): Map<string, string> {
  const isFailed = isFailedTable(columns)
  const missing = [...map.keys()].filter((column) => !columns.includes(column))
  if (missing.length > 0 && !isFailed)
    throw new UsageError(`--map names columns that the table does not have: ${missing.join(', ')}`)
  const found = columns.flatMap((column): [string, string | undefined][] => {
    // The options of the first table may be given again and must not map its fields twice.
    if (isFailed && isField(column)) return [[column, column]]
    if (isFailed && LEFT_OUT.test(column)) return []
    if (map.has(column)) return [[column, map.get(column)]]
    if (OWN_COLUMNS.includes(column)) return []
    return [[column, isField(column) ? column : BY_LOWER_CASE.get(column.toLowerCase())]]
  })
  const unknown = found.flatMap(([column, field]) => (field === undefined ? [column] : []))
  if (unknown.length > 0)
    throw new UsageError(
      `unknown columns: ${unknown.join(', ')}. Name their fields, such as --map "${unknown[0]}=subjectName", or leave them out with --map "${unknown[0]}="`,
    )
  const used = found.flatMap(([column, field]) => (field ? [[column, field] as const] : []))
  const twice = used.find(([, field], i) => used.findIndex((other) => other[1] === field) !== i)
  if (twice) throw new UsageError(`duplicate column: ${twice[1]}`)
  return new Map(used)
}

/** @returns The cells with dates as YYYY-MM-DD, if they can be in this order. */
function withDates(
  cells: Row['cells'],
  fields: ReadonlyMap<string, string>,
  order: DateOrder | undefined,
): Row['cells'] {
  if (order === undefined) return cells
  const changed = { ...cells }
  for (const [column, field] of fields) {
    const [, first = '', second = '', year] = LOCAL_DATE.exec(cells[column] ?? '') ?? []
    if (year === undefined || !DATES.includes(field)) continue
    const [day, month] = order === 'dmy' ? [first, second] : [second, first]
    if (Number(month) > 12) continue
    changed[column] = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  }
  return changed
}

/** @returns Advice if a bad row has a date as spreadsheets write it. */
export function adviceOnDates(bad: readonly BadRow[]): string | undefined {
  const cells = bad.flatMap((row) =>
    row.problems.some(({ field }) => DATES.includes(field)) ? Object.values(row.cells) : [],
  )
  if (cells.some((cell) => LOCAL_DATE.test(cell)))
    return 'Use --dates dmy for dates such as 31.7.2026 or 31/07/2026, and --dates mdy for 7/31/2026.'
  if (cells.some((cell) => SHORT_DATE.test(cell)))
    return 'Dates such as 31.7.26 must have a year of four digits.'
  return undefined
}

/** An empty cell is an absent field; a required one is then reported as missing. */
export function documentOf(
  cells: Row['cells'],
  fields: ReadonlyMap<string, string>,
  set: Mapping['set'],
): Record<string, JsonValue> {
  const given = [...fields].map(([column, field]) => [field, cells[column] ?? ''] as const)
  const filled = [...given, ...set].filter(([, text]) => text !== '')
  const metadata = filled.flatMap(([field, text]) =>
    field.startsWith(METADATA) ? [[field.slice(METADATA.length), text] as const] : [],
  )
  return {
    ...Object.fromEntries(filled.filter(([field]) => !field.startsWith(METADATA))),
    ...(metadata.length > 0 && { metadata: Object.fromEntries(metadata) }),
  }
}

/** Each line has a document as the REST API accepts it. */
function fromNdjson(text: string, { map, set, dates }: Mapping): Sent[] {
  if (map.size > 0 || dates !== undefined)
    throw new UsageError('--map and --dates require a CSV table')
  const sent = text.split('\n').flatMap((source, i): Sent[] => {
    if (source.trim() === '') return []
    const value = parseLine(source)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    const whole = isObject ? withSet(value, documentOf({}, new Map(), set)) : value
    return [{ line: i + 1, cells: cellsOf(whole), value: whole }]
  })
  if (sent.length > MAX_ROWS) throw badTable(`more than ${MAX_ROWS} rows: split the file`)
  return sent
}

function withSet(value: JsonObject, set: JsonObject): JsonObject {
  const both = { ...value, ...set }
  if (set.metadata === undefined || Object(value.metadata) !== value.metadata) return both
  return { ...both, metadata: { ...Object(value.metadata), ...Object(set.metadata) } }
}

/** @returns `null`, which is not a document, if the text is not JSON. */
function parseLine(source: string): JsonValue {
  try {
    return parseStrictJson(source)
  } catch {
    return null
  }
}

/** @returns Fields as the cells of a table with the columns of the template. */
export function cellsOf(value: unknown): Record<string, string> {
  const { metadata, ...fields } = Object(value) as Record<string, unknown>
  const entries = Object.entries(Object(metadata)).map(([key, text]) => [`${METADATA}${key}`, text])
  return Object.fromEntries(
    [...Object.entries(fields), ...entries].map(([name, text]) => [name, String(text)]),
  )
}
