import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { createMergeDocumentKeys } from '#store/sqlite/document-index.ts'
import { createMergeKeys, KEY_KINDS } from '#store/sqlite/sorted-keys.ts'
import { DRAFTS, KEYS, type Kind, type Table } from './list.ts'
import {
  canonicalJson,
  columnsOf,
  inGroups,
  kindsOf,
  type Row,
  type Side,
  type Target,
  type Value,
} from './rows.ts'
import { readDrafts, writeDraft } from './sqlite-drafts.ts'

/** The two files of a data folder, which this process has locked. */
export type SqliteFiles = { main: DatabaseSync; keys: DatabaseSync }

const fileOf = ({ main, keys }: SqliteFiles, table: Table) => (table === KEYS ? keys : main)

export function readSqlite(files: SqliteFiles): Side {
  return {
    rows: (table) =>
      inGroups(table === DRAFTS ? readDrafts(files.main) : rowsOf(fileOf(files, table), table)),
    async nextNumber(table) {
      const sqlite = fileOf(files, table)
      const [newest] = valuesOf(sqlite, `SELECT max(${table.numbered}) FROM ${table.name}`)
      const [used] = valuesOf(sqlite, 'SELECT seq FROM sqlite_sequence WHERE name = ?', table.name)
      return 1n + BigInt(Math.max(Number(newest ?? 0), Number(used ?? 0)))
    },
    async keyVersion() {
      const [version] = valuesOf(files.keys, 'SELECT version FROM change')
      return BigInt(Number(version))
    },
  }
}

function valuesOf(sqlite: DatabaseSync, sql: string, ...parameters: SQLInputValue[]) {
  return Object.values(sqlite.prepare(sql).get(...parameters) ?? {})
}

function* rowsOf(sqlite: DatabaseSync, table: Table): Iterable<Row> {
  const order = table.order ? ` ORDER BY ${table.order}` : ''
  const select = sqlite.prepare(`SELECT ${columnsOf(table).join(', ')} FROM ${table.name}${order}`)
  select.setReadBigInts(true)
  const kinds = kindsOf(table)
  for (const row of select.iterate())
    yield Object.values(row).map((value, i) => read(kinds[i] as Kind, value))
}

function read(kind: Kind, value: SQLOutputValue): Value {
  if (value === null) return null
  switch (kind) {
    case 'flag':
      return value === 1n
    case 'hex':
      return fromHex(value as Hex)
    case 'decimal':
      return BigInt(value as string)
    case 'json':
    case 'texts':
      return canonicalJson(JSON.parse(value as string))
    default:
      return value as Value
  }
}

function write(kind: Kind, value: Value): SQLInputValue {
  if (kind === 'hex' && value !== null) return toHex(value as Uint8Array)
  if (kind === 'decimal' && value !== null) return String(value)
  if (typeof value === 'boolean') return value ? 1 : 0
  return value
}

/**
 * Fills files that have the schema and no rows. What triggers do beside a change of the outbox was
 * done before; those that sort the keys of new rows stay.
 */
export function writeSqlite(files: SqliteFiles): Target {
  const { main, keys } = files
  for (const table of ['intent', 'tombstone', 'erasure']) dropTriggers(main, table)
  const added = createAdded(main)

  return {
    ...readSqlite(files),
    async insert(table, rows) {
      const sqlite = fileOf(files, table)
      const insert = insertOf(sqlite, table)
      sqlite.exec('BEGIN')
      for (const row of rows) {
        insert(row)
        added(table)
      }
      sqlite.exec('COMMIT')
      return rows
    },
    async setNextNumber(table, number) {
      // It numbers them by what is there.
      if (table === DRAFTS || number === 1n) return
      const sqlite = fileOf(files, table)
      sqlite.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(table.name)
      sqlite.prepare('INSERT INTO sqlite_sequence VALUES (?, ?)').run(table.name, number - 1n)
    },
    async setKeyVersion(version) {
      keys.prepare('UPDATE change SET version = ?').run(version)
    },
  }
}

function insertOf(sqlite: DatabaseSync, table: Table): (row: Row) => void {
  if (table === DRAFTS) return (row) => writeDraft(sqlite, row)
  const kinds = kindsOf(table)
  const marks = kinds.map(() => '?').join(', ')
  const insert = sqlite.prepare(
    `INSERT INTO ${table.name} (${columnsOf(table).join(', ')}) VALUES (${marks})`,
  )
  return (row) => void insert.run(...row.map((value, i) => write(kinds[i] as Kind, value)))
}

/** The next start adds them again. */
function dropTriggers(sqlite: DatabaseSync, table: string): void {
  const triggers = sqlite
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?")
    .all(table)
  for (const { name } of triggers) sqlite.exec(`DROP TRIGGER ${name}`)
}

/** @returns A function, for use after each new row, that merges sorted keys once in a while. */
function createAdded(sqlite: DatabaseSync): (table: Table) => void {
  const merges: Record<string, (added: number) => void> = {
    block: createMergeKeys(sqlite, KEY_KINDS.payload),
    document: createMergeDocumentKeys(sqlite),
  }
  const counts = new Map<string, number>()
  return ({ name }) => {
    const merge = merges[name]
    if (!merge) return
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    merge(count)
  }
}
