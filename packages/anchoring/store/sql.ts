import { fromHex, type Hex, toHex } from '#document/hex.ts'

// Statements for both databases, and work that several of them make up.

/** What a column holds. A list or an object is stored as JSON. */
export type Kind = 'integer' | 'text' | 'bytes' | 'flag'

/** A row as a driver reads it: bytes as bytes, integers as numbers. */
export type Row = Record<string, unknown>

/** The values of a statement by name. An array is a list; `undefined` is NULL. */
export type Values = Readonly<Record<string, unknown>>

/** How the SQL of a database differs from that of the other. */
export type Dialect = {
  readonly name: 'sqlite' | 'postgres'
  /**
   * A table `item` of the rows that {@link each} gets, with these columns and `place`, the number
   * of a row. A column is filled by the value of the same name.
   */
  items(columns: Readonly<Record<string, Kind>>): string
  /** Ends an INSERT of items: it returns those that were added, by this column. */
  added(column: string): string
  /** Whether a column has one of the values in the list of this name. */
  isIn(column: string, list: string, kind: Kind): string
  /** A value that may be NULL, where the database cannot tell its kind. */
  value(name: string, kind: Kind): string
  /** The larger of two numbers. */
  larger(one: string, other: string): string
  smaller(one: string, other: string): string
  /** Seconds of the Unix epoch. */
  readonly now: string
  /** Milliseconds of the Unix epoch. */
  readonly nowMs: string
  /** Ends a SELECT whose rows nobody else may change until the transaction ends. */
  forUpdate(table: string): string
  /** As `forUpdate`, without those that somebody else has locked. */
  readonly skipLocked: string
  /** Keeps the planner from using an index for a condition. */
  readonly unindexed: string
}

/**
 * A statement. Values stand in it as `:name`.
 *
 * @param write Its text; empty where a database needs no such statement.
 */
export type Statement = { write(dialect: Dialect): string }

export function statement(write: string | ((dialect: Dialect) => string)): Statement {
  return { write: typeof write === 'string' ? () => write : write }
}

/** @returns A statement that only PostgreSQL needs, because nobody else writes to SQLite. */
export function onPostgres(text: string): Statement {
  return statement(({ name }) => (name === 'postgres' ? text : ''))
}

/** One step of {@link Work}. */
export type Step =
  | { statement: Statement; values: Values; each?: readonly Values[] }
  | { notify: string; payload: string }

/**
 * Steps of one transaction. SQLite runs them in one go, PostgreSQL waits for each; so they must
 * wait for nothing else.
 */
export type Work<T> = Generator<Step, T, Row[]>

/** @returns The rows of a statement. */
export function* all(statement: Statement, values: Values = {}): Work<Row[]> {
  return yield { statement, values }
}

/** @returns The first row of a statement. */
export function* first(statement: Statement, values: Values = {}): Work<Row | undefined> {
  const [row] = yield { statement, values }
  return row
}

/**
 * Runs a statement on `items`: on all at once, or once for each.
 *
 * @param rows The items.
 * @param values Other values of the statement.
 * @returns The rows of all, in the order of the items only if each has one.
 */
export function* each(
  statement: Statement,
  rows: readonly Values[],
  values: Values = {},
): Work<Row[]> {
  return rows.length === 0 ? [] : yield { statement, values, each: rows }
}

/** @returns The work of one statement, on items if there are any. */
export function single(
  statement: Statement,
  values: Values = {},
  items?: readonly Values[],
): () => Work<Row[]> {
  return () => (items ? each(statement, items, values) : all(statement, values))
}

/** Wakes up those who listen to a channel, once the transaction is committed. */
export function* notify(channel: string, payload = ''): Work<void> {
  yield { notify: channel, payload }
}

const NAME = /(?<![:\w]):([a-z]\w*)/gi

/**
 * @param mark The mark of the n-th value, from 1 on.
 * @returns The text with marks in place of names, and the names in the order of the marks.
 */
export function withMarks(
  text: string,
  mark: (number: number) => string,
): { text: string; names: string[] } {
  const names: string[] = []
  const marked = text.replace(NAME, (_, name: string) => {
    if (!names.includes(name)) names.push(name)
    return mark(names.indexOf(name) + 1)
  })
  return { text: marked, names }
}

/** @returns Bytes for a column; NULL for an absent value. */
export function bytesOf(hex: Hex | null | undefined): Uint8Array | null {
  return hex === undefined || hex === null ? null : fromHex(hex)
}

/** @returns Bytes that are not NULL. */
export function hexOf(value: unknown): Hex {
  return toHex(value as Uint8Array)
}

export function hexOrNull(value: unknown): Hex | null {
  return value === null ? null : hexOf(value)
}

/** @returns An integer that may be NULL. */
export function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value)
}

/** @returns A text that may be NULL. */
export function textOrNull(value: unknown): string | null {
  return value === null ? null : String(value)
}

/** @returns A flag. */
export function isSet(value: unknown): boolean {
  return Boolean(value)
}
