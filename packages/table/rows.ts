import { sha256 } from '@noble/hashes/sha2.js'
import { toCanonical } from '#document/canonical.ts'
import type { DocumentFields } from '#document/document.ts'
import type { FieldProblem } from '#document/errors.ts'
import { toHex } from '#document/hex.ts'
import type { JsonValue } from '#document/json.ts'
import type { Kind } from '#document/kind.ts'
import { type KindOf, readNewDocument } from '#document/new-document.ts'
import type { Note, Row } from './table.ts'

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
}

/** A row with the document that it says, and what is wrong with its cells themselves. */
export type SentRow = {
  line: number
  cells: Row['cells']
  value: JsonValue
  problems?: readonly FieldProblem[]
}

/** What is wrong with a cell of a workbook. */
export const CELL_PROBLEMS: Record<NonNullable<Note['problem']>, string> = {
  no_result: 'has an error in the spreadsheet, or a formula without its result',
  digits_lost: 'has more than 15 digits, of which spreadsheets lose some',
}

/** What spreadsheets show in place of a result. */
export const ERROR = /^(#(N\/A|REF!|VALUE!|DIV\/0!|NAME\?|NULL!|NUM!)|Err:\d{3})$/

export const FIELDS = ['subjectName', 'subjectId', 'category', 'issuedAt', 'expiresAt']
export const DATES = ['issuedAt', 'expiresAt']
const METADATA = 'metadata.'
const BY_LOWER_CASE = new Map(FIELDS.map((field) => [field.toLowerCase(), field]))

/** How a spreadsheet writes dates: day, month, year, or month, day, year. */
export const DATE_ORDERS = ['dmy', 'mdy'] as const
export type DateOrder = (typeof DATE_ORDERS)[number]

/** The time of day that spreadsheets add to a day. */
const MIDNIGHT = /(?<=\d\.?)(?:T|\s+)0?0:00(?::00(?:\.0+)?)?Z?$/
/** A date of three numbers. */
export const LOCAL_DATE = /^(\d{1,2})[./-]\s?(\d{1,2})[./-]\s?(\d{4})$/
export const SHORT_DATE = /^\d{1,2}[./-]\d{1,2}[./-]\d{2}$/

/** Dates that begin with the year have one order. */
const YEAR_FIRST = /^(\d{4})[./年-]\s?(\d{1,2})[./月-]\s?(\d{1,2})[.日]?$/
const NAMED_MONTH = /^(\d{1,2})[ .-]\s?([a-z]{3,9})\.?[ -](\d{4})$/i
const MONTHS =
  'january february march april may june july august september october november december'.split(' ')

/** @returns A text without the time of day, if that is midnight. */
export const withoutMidnight = (text: string) => text.replace(MIDNIGHT, '')

/** @returns The day as YYYY-MM-DD, also one that no month has; `undefined` for what is no date. */
export function dayIn(text: string, order: DateOrder | undefined): string | undefined {
  const day = withoutMidnight(text)
  const dateOf = (year = '', month = '', date = '') =>
    `${year}-${month.padStart(2, '0')}-${date.padStart(2, '0')}`
  const [isYearFirst, year, ...ordered] = YEAR_FIRST.exec(day) ?? []
  if (isYearFirst) return dateOf(year, ...ordered)
  const [isNamed, date, name = '', itsYear] = NAMED_MONTH.exec(day) ?? []
  const month = MONTHS.findIndex((one) => one.startsWith(name.toLowerCase()))
  if (isNamed) return month < 0 ? undefined : dateOf(itsYear, String(month + 1), date)
  const [, first = '', second = '', last] = LOCAL_DATE.exec(day) ?? []
  if (last === undefined) return undefined
  // One that is above 12 is the day.
  const known = order ?? (Number(first) > 12 ? 'dmy' : Number(second) > 12 ? 'mdy' : undefined)
  if (known === undefined) return undefined
  const [d, m] = known === 'dmy' ? [first, second] : [second, first]
  return Number(m) > 12 ? undefined : dateOf(last, m, d)
}

/** @returns Whether a column of this name is a field of a document. */
export function isField(name: string): boolean {
  return FIELDS.includes(name) || (name.startsWith(METADATA) && name.length > METADATA.length)
}

/** @returns The field that a column of this name holds; `undefined` for another column. */
export function fieldNamed(column: string): string | undefined {
  return isField(column) ? column : BY_LOWER_CASE.get(column.toLowerCase())
}

/**
 * Checks every row with the rules of the REST API.
 *
 * @param now Milliseconds of the Unix epoch.
 * @param kindOf The kind of documents of each category, if there is one.
 */
export function checkRows(sent: readonly SentRow[], now: number, kindOf?: KindOf): CheckedRows {
  const good: GoodRow[] = []
  const bad: BadRow[] = []
  const cellsByKey = new Map<string, Row['cells']>()
  const lines = new Map<string, number>()
  for (const { line, cells, value, problems: own = [] } of sent) {
    const read = readNewDocument(value, now, kindOf)
    if ('problems' in read || own.length > 0) {
      const named = own.map(({ field }) => field)
      const others = 'problems' in read ? read.problems : []
      bad.push({
        line,
        cells,
        problems: [...own, ...others.filter((p) => !named.includes(p.field))],
      })
      continue
    }
    const key = keyOf(read.fields)
    const alike = composed(read.fields, key)
    const before = lines.get(alike)
    if (before === undefined) {
      good.push({ line, fields: read.fields, key })
      cellsByKey.set(key, cells)
    } else {
      const problems = [{ field: '', message: `is a duplicate of line ${before}` }]
      bad.push({ line, cells, problems, sameAs: before })
    }
    lines.set(alike, before ?? line)
  }
  return { good, bad, cells: cellsByKey }
}

/** @returns What makes a row the same document as another: the hash of its canonical fields. */
function keyOf(fields: DocumentFields): string {
  return toHex(sha256(toCanonical(fields))).slice(2)
}

/** @returns The key with each letter and its accents in one character, which people see alike. */
function composed(fields: DocumentFields, key: string): string {
  const text = JSON.stringify(fields)
  const normal = text.normalize('NFC')
  return normal === text ? key : keyOf(JSON.parse(normal))
}

/** @returns What is wrong with the cells that fields have. */
export function cellProblems(
  { notes = {} }: Row,
  fields: ReadonlyMap<string, string>,
): FieldProblem[] {
  return Object.entries(notes).flatMap(([column, { problem }]) => {
    const field = fields.get(column)
    return field && problem ? [{ field, message: CELL_PROBLEMS[problem] }] : []
  })
}

/**
 * @param isValue Whether a column has what the cells of a workbook hold, not what they show.
 * @returns The cells with that, and identifiers without what their format puts between digits.
 */
export function withValues(
  { cells, notes = {} }: Row,
  fields: ReadonlyMap<string, string>,
  isValue: (column: string, field: string) => boolean,
): Row['cells'] {
  const changed = { ...cells }
  for (const [column, { value }] of Object.entries(notes)) {
    const field = fields.get(column) ?? ''
    if (value === undefined) continue
    if (field === 'subjectId') changed[column] = identifierOf(cells[column] ?? '', value)
    else if (isValue(column, field)) changed[column] = value
  }
  return changed
}

/**
 * @param isCertain Whether nothing is open about a column that shows other text than it holds.
 * @returns An example of each column of which a person must say what is issued of it.
 */
export function doubtfulIn(
  rows: readonly Row[],
  fields: ReadonlyMap<string, string>,
  isCertain: (field: string, text: string, value: string) => boolean,
): Map<string, { text: string; value: string }> {
  const found = new Map<string, { text: string; value: string }>()
  for (const { cells, notes = {} } of rows)
    for (const [column, { value }] of Object.entries(notes)) {
      const field = fields.get(column)
      const text = cells[column] ?? ''
      if (!field || value === undefined || field === 'subjectId' || found.has(column)) continue
      if (!isCertain(field, text, value)) found.set(column, { text, value })
    }
  return found
}

/**
 * @returns The cells of a row as it is given back in a table: what was no good there must not be
 * taken for text when that is read.
 */
export function givenBack(cells: Row['cells'], notes: Row['notes'] = {}): Row['cells'] {
  const bad = Object.entries(notes).filter(([column, { problem }]) =>
    problem ? !ERROR.test(cells[column] ?? '') : false,
  )
  return { ...cells, ...Object.fromEntries(bad.map(([column]) => [column, '#N/A'])) }
}

/** @returns The digits that a sheet shows, also leading zeros, if they are all digits that it has. */
function identifierOf(text: string, value: string): string {
  const digits = text.replace(/\D/g, '')
  return digits.replace(/^0+(?=.)/, '') === value ? digits : value
}

/**
 * @param isDate Whether a field holds a date.
 * @returns The cells with dates as YYYY-MM-DD, where they have one reading in this order.
 */
export function withDates(
  cells: Row['cells'],
  fields: ReadonlyMap<string, string>,
  order: DateOrder | undefined,
  isDate = (field: string) => DATES.includes(field),
): Row['cells'] {
  const changed = { ...cells }
  for (const [column, field] of fields)
    if (isDate(field)) changed[column] = dayIn(cells[column] ?? '', order) ?? cells[column] ?? ''
  return changed
}

/** @returns The field that a column means, if all kinds that know its name agree. */
export function namedByKinds(column: string, kinds: readonly Kind[]): string | undefined {
  const found = new Set(kinds.flatMap((kind) => fieldOfKind(column, kind) ?? []))
  return found.size === 1 ? [...found][0] : undefined
}

/** @returns The field of a kind that people mean by the name of a column, in any language. */
export function fieldOfKind(column: string, { fields }: Kind): string | undefined {
  const wanted = column.trim().toLowerCase()
  return fields.find(
    ({ name, display }) =>
      name.toLowerCase() === `${METADATA}${wanted}` ||
      display.some((words) => words.name.toLowerCase() === wanted),
  )?.name
}

/** An empty cell is an absent field; a required one is then reported as missing. */
export function documentOf(
  cells: Row['cells'],
  fields: ReadonlyMap<string, string>,
  set: ReadonlyMap<string, string>,
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

/** @returns Fields as the cells of a table with the columns of the template. */
export function cellsOf(value: unknown): Record<string, string> {
  const { metadata, ...fields } = Object(value) as Record<string, unknown>
  const entries = Object.entries(Object(metadata)).map(([key, text]) => [`${METADATA}${key}`, text])
  return Object.fromEntries(
    [...Object.entries(fields), ...entries].map(([name, text]) => [name, String(text)]),
  )
}
