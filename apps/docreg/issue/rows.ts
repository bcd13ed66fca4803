import type { JsonValue } from '#document/json.ts'
import { parseStrictJson } from '#document/json.ts'
import type { Kind } from '#document/kind.ts'
import {
  type BadRow,
  type CheckedRows as Checked,
  cellProblems,
  cellsOf,
  checkRows,
  DATES,
  type DateOrder,
  documentOf,
  doubtfulIn,
  FIELDS,
  fieldNamed,
  givenBack,
  isField,
  LOCAL_DATE,
  namedByKinds,
  type SentRow,
  SHORT_DATE,
  withDates,
  withoutMidnight,
  withValues,
} from '#table/rows.ts'
import {
  type Choices,
  type Dialect,
  MAX_ROWS,
  OWN_COLUMNS,
  PLAIN,
  type Reading,
  type Row,
} from '#table/table.ts'
import { badTable, readTable, readText } from '../csv.ts'
import { UsageError } from '../errors.ts'

/** The dialect is that of the table, for tables that are made from it. */
export type CheckedRows = Checked & { dialect: Dialect; choices?: Choices | undefined }

/** The values of `--map`, `--set`, `--dates` and `--cells`, and how the file is read. */
export type Mapping = {
  /** The field of each column; an empty field leaves the column out. */
  map: ReadonlyMap<string, string>
  /** Values for all rows, by field. */
  set: ReadonlyMap<string, string>
  /** Absent = dates are YYYY-MM-DD. */
  dates?: DateOrder | undefined
  /** Whether a column of a workbook has what its cells show, or the values that they hold. */
  cells?: ReadonlyMap<string, string>
  reading?: Reading
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

/** @param texts `column=text` or `column=value`. @throws {UsageError} */
export function readCells(texts: readonly string[] = []): Map<string, string> {
  const cells = new Map(texts.map((text) => pairOf('cells', text, text.lastIndexOf('='))))
  for (const [column, what] of cells)
    if (what !== 'text' && what !== 'value')
      throw new UsageError(`--cells must be "${column}=text" or "${column}=value"`)
  return cells
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

/**
 * Reads a table of documents and checks every row with the rules of the REST API.
 *
 * @param now Milliseconds of the Unix epoch.
 * @param kinds The kinds of documents of the service, which also name columns.
 * @throws {InputError} `bad_table` if it is not a table. @throws {UsageError} for unknown columns.
 */
export async function readRows(
  bytes: Uint8Array,
  mapping: Mapping,
  now: number,
  kinds: readonly Kind[] = [],
): Promise<CheckedRows> {
  const isNdjson = /^[\s\ufeff]*\{/.test(new TextDecoder().decode(bytes.subarray(0, 1024)))
  const { sent, ...table } = isNdjson
    ? { sent: fromNdjson(readText(bytes, mapping.reading?.encoding), mapping), dialect: PLAIN }
    : await fromTable(bytes, mapping, kinds)
  const kindOf = (category: string) => kinds.find((kind) => kind.category === category)
  return { ...checkRows(sent, now, kindOf), ...table }
}

const OTHER_HEADER = ': if another line names the columns, give it with --header'

type JsonObject = Record<string, JsonValue>

async function fromTable(
  bytes: Uint8Array,
  mapping: Mapping,
  kinds: readonly Kind[],
): Promise<Pick<CheckedRows, 'dialect' | 'choices'> & { sent: SentRow[] }> {
  const { columns, rows, dialect, choices } = await readTable(bytes, mapping.reading, {
    cell_count: OTHER_HEADER,
  })
  if (columns.includes('publicId'))
    throw badTable('the table has the column publicId: these documents are already issued')
  const fields = fieldsOf(columns, mapping, kinds)
  const dates = kinds.flatMap((kind) =>
    kind.fields.flatMap(({ name, type }) => (type === 'date' ? [name] : [])),
  )
  const isDate = (field: string) => [...DATES, ...dates].includes(field)
  const { cells: shown = new Map() } = mapping
  assertCertain(doubtfulIn(rows, fields, isDate), shown)
  const isValue = (column: string, field: string) => isDate(field) || shown.get(column) === 'value'
  const sent = rows.map((row) => {
    const cells = withDates(withValues(row, fields, isValue), fields, mapping.dates, isDate)
    const value = documentOf(cells, fields, mapping.set)
    const problems = cellProblems(row, fields)
    const given = byFields(givenBack(cells, row.notes), fields, mapping.set)
    return { line: row.line, cells: given, value, problems }
  })
  return { sent, dialect, choices }
}

/** @throws {UsageError} for a column of which nobody said what is issued of it. */
function assertCertain(doubtful: ReturnType<typeof doubtfulIn>, shown: Mapping['cells']): void {
  const open = [...doubtful].filter(([column]) => !shown?.has(column))
  const [first] = open
  if (first === undefined) return
  const [column, { text, value }] = first
  throw new UsageError(
    `columns that show other text than they hold: ${open.map(([name]) => name).join(', ')}. Give --cells "${column}=text" for what is shown, such as "${text}", or --cells "${column}=value" for what is held, such as "${value}"`,
  )
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
function fieldsOf(
  columns: readonly string[],
  { map, cells = new Map() }: Mapping,
  kinds: readonly Kind[],
): Map<string, string> {
  const isFailed = isFailedTable(columns)
  for (const [option, named] of Object.entries({ map, cells })) {
    const missing = [...named.keys()].filter((column) => !columns.includes(column))
    if (missing.length > 0 && !isFailed)
      throw new UsageError(
        `--${option} names columns that the table does not have: ${missing.join(', ')}`,
      )
  }
  const found = columns.flatMap((column): [string, string | undefined][] => {
    // The options of the first table may be given again and must not map its fields twice.
    if (isFailed && isField(column)) return [[column, column]]
    if (isFailed && LEFT_OUT.test(column)) return []
    if (map.has(column)) return [[column, map.get(column)]]
    if (OWN_COLUMNS.includes(column)) return []
    return [[column, fieldNamed(column) ?? namedByKinds(column, kinds)]]
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

/** @returns Advice if a bad row has a date as spreadsheets write it. */
export function adviceOnDates(bad: readonly BadRow[]): string | undefined {
  const cells = bad.flatMap((row) =>
    row.problems.some(({ field }) => DATES.includes(field)) ? Object.values(row.cells) : [],
  )
  if (cells.some((cell) => LOCAL_DATE.test(withoutMidnight(cell))))
    return 'Use --dates dmy for dates such as 31.7.2026 or 31/07/2026, and --dates mdy for 7/31/2026.'
  if (cells.some((cell) => SHORT_DATE.test(cell)))
    return 'Dates such as 31.7.26 must have a year of four digits.'
  return undefined
}

/** Each line has a document as the REST API accepts it. */
function fromNdjson(text: string, { map, set, dates }: Mapping): SentRow[] {
  if (map.size > 0 || dates !== undefined)
    throw new UsageError('--map and --dates require a table with columns')
  const sent = text.split('\n').flatMap((source, i): SentRow[] => {
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
    return parseStrictJson(source.trim())
  } catch {
    return null
  }
}
