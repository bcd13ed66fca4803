// The tables of schema.sql, in the words of each database.
import { readFileSync } from 'node:fs'
import type { Dialect, Kind, Values } from './sql.ts'

export type Table = {
  name: string
  /** The text that creates it and its indexes, for PostgreSQL. */
  text: string
  columns: Readonly<Record<string, Kind>>
  /** The column that the database numbers. Numbers are never reused. */
  numbered?: string
  /** Whether its rows are about this copy of the database. */
  isLocal: boolean
  /** Columns that only one database fills, or that are about this copy of the database. */
  local: readonly string[]
}

/**
 * The version of the schema. A database of another version is refused and not converted. Whatever
 * changes the tables, or what a row means, raises it.
 */
export const SCHEMA_VERSION = 21

/** The statuses in the index by their code in the tables. */
export const KEPT_STATUSES = [null, 'suspended', 'revoked', 'superseded', 'distrusted'] as const

const TYPES: Record<Dialect['name'], Record<Kind, string>> = {
  sqlite: { integer: 'INTEGER', text: 'TEXT', bytes: 'BLOB', flag: 'INTEGER' },
  postgres: { integer: 'bigint', text: 'text', bytes: 'bytea', flag: 'boolean' },
}
const KINDS = new Map(
  Object.entries(TYPES.postgres).map(([kind, type]) => [type, kind as Kind] as const),
)

/** The words of PostgreSQL that SQLite does not have, in the order in which they are replaced. */
const SQLITE_WORDS: readonly (readonly [RegExp, string])[] = [
  [/bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY/g, 'INTEGER PRIMARY KEY AUTOINCREMENT'],
  [/\bbigint\b/g, TYPES.sqlite.integer],
  [/\bbytea NOT NULL DEFAULT ''/g, `${TYPES.sqlite.bytes} NOT NULL DEFAULT x''`],
  [/\bbytea\b/g, TYPES.sqlite.bytes],
  [/\bboolean\b/g, TYPES.sqlite.flag],
]

const TABLE =
  /^CREATE TABLE (\w+) \((.*)\n([\s\S]*?)\n\);\n(?:CREATE (?:UNIQUE )?INDEX [^;]*;\n)*/gm
const COLUMN = /^ {2}(\w+) (bigint|text|bytea|boolean)\b(.*)$/gm

const [main = '', withKeys = ''] = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8')
  .split('-- ==== keys.db ====')
  .map((part) => `${part}\n`)

function read(part: string): Table[] {
  return [...part.matchAll(TABLE)].map(([text, name = '', mark = '', body = '']) => {
    const columns = [...body.matchAll(COLUMN)]
    const names = (of: typeof columns) => of.map(([, column = '']) => column)
    const [numbered] = names(columns.filter(([, , , rest]) => rest?.includes('IDENTITY')))
    return {
      name,
      text,
      columns: Object.fromEntries(
        columns.map(([, column = '', type = '']) => [column, KINDS.get(type) as Kind]),
      ),
      ...(numbered !== undefined && { numbered }),
      isLocal: mark.includes('-- local'),
      local: names(columns.filter(([, , , rest]) => rest?.includes('-- local'))),
    }
  })
}

const MAIN = read(main)
/** The tables that with SQLite are in the file of keys. */
export const KEPT_WITH_KEYS: readonly Table[] = read(withKeys)

/** The tables that are copied to the other database, in an order that references allow. */
export const MOVED = [...MAIN, ...KEPT_WITH_KEYS].filter(({ isLocal }) => !isLocal)

export function tableOf(name: string): Table {
  const found = [...MAIN, ...KEPT_WITH_KEYS].find((table) => table.name === name)
  if (found === undefined) throw new TypeError(`schema.sql has no table ${name}`)
  return found
}

/** @returns The type of a column of this kind. */
export function typeOf(database: Dialect['name'], kind: Kind): string {
  return TYPES[database][kind]
}

/** @returns Statements that create all tables; for SQLite without those in the file of keys. */
export function schemaOf(database: Dialect['name']): string {
  return database === 'postgres'
    ? [...MAIN, ...KEPT_WITH_KEYS].map(({ text }) => text).join('\n')
    : MAIN.map(onSqlite).join('\n')
}

/** @returns Statements that create the tables in SQLite's file of keys. */
export const schemaOfKeys = () => KEPT_WITH_KEYS.map(onSqlite).join('\n')

function onSqlite({ text }: Table): string {
  const words = SQLITE_WORDS.reduce((so, [word, by]) => so.replace(word, by), text)
  // A row with a key of its own is kept in the tree of its key.
  const options = /PRIMARY KEY(?! AUTOINCREMENT)/.test(words) ? 'STRICT, WITHOUT ROWID' : 'STRICT'
  return words.replace('\n);', `\n) ${options};`)
}

/**
 * An INSERT of items, whose values are named as the columns that they fill.
 *
 * @param columns The names of these columns.
 * @param computed Expressions for other columns.
 * @param more Other values of the items, which the expressions use.
 */
export function insertItems(
  sql: Dialect,
  name: string,
  columns: string,
  { computed = {}, more = {} }: { computed?: Values; more?: Readonly<Record<string, Kind>> } = {},
): string {
  const filled = columns.split(', ')
  const table = tableOf(name)
  const kinds = filled.map((column) => [column, table.columns[column] as Kind])
  return `
    INSERT INTO ${name} (${[...filled, ...Object.keys(computed)].join(', ')})
    SELECT ${[...filled.map((column) => `item.${column}`), ...Object.values(computed)].join(', ')}
    FROM ${sql.items({ ...Object.fromEntries(kinds), ...more })}`
}
