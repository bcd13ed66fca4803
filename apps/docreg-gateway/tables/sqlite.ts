import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type { Kind } from '#store/sql.ts'
import { KEPT_WITH_KEYS, type Table } from '#store/tables.ts'
import {
  columnsOf,
  inGroups,
  kindsOf,
  type Row,
  type Side,
  type Target,
  type Value,
} from './rows.ts'

/** The two files of a data folder, which this process has locked. */
export type SqliteFiles = { main: DatabaseSync; keys: DatabaseSync }

const fileOf = ({ main, keys }: SqliteFiles, table: Table) =>
  KEPT_WITH_KEYS.includes(table) ? keys : main

export function readSqlite(files: SqliteFiles): Side {
  return {
    rows: (table) => inGroups(rowsOf(fileOf(files, table), table)),
    async nextNumber(table) {
      const sqlite = fileOf(files, table)
      const [newest] = valuesOf(sqlite, `SELECT max(${table.numbered}) FROM ${table.name}`)
      const [used] = valuesOf(sqlite, 'SELECT seq FROM sqlite_sequence WHERE name = ?', table.name)
      return 1n + BigInt(Math.max(Number(newest ?? 0), Number(used ?? 0)))
    },
    async keyVersion() {
      const [version] = valuesOf(files.keys, 'SELECT version FROM key_change')
      return BigInt(Number(version))
    },
  }
}

function valuesOf(sqlite: DatabaseSync, sql: string, ...parameters: SQLInputValue[]) {
  return Object.values(sqlite.prepare(sql).get(...parameters) ?? {})
}

function* rowsOf(sqlite: DatabaseSync, table: Table): Iterable<Row> {
  const order = table.numbered ? ` ORDER BY ${table.numbered}` : ''
  const select = sqlite.prepare(`SELECT ${columnsOf(table).join(', ')} FROM ${table.name}${order}`)
  select.setReadBigInts(true)
  const kinds = kindsOf(table)
  for (const row of select.iterate())
    yield Object.values(row).map((value, i) => read(kinds[i] as Kind, value))
}

const read = (kind: Kind, value: SQLOutputValue): Value =>
  kind === 'flag' ? value === 1n : (value as Value)

const write = (value: Value): SQLInputValue =>
  typeof value === 'boolean' ? Number(value) : (value as SQLInputValue)

/** Fills files that have the schema and no rows. */
export function writeSqlite(files: SqliteFiles): Target {
  return {
    ...readSqlite(files),
    async insert(table, rows) {
      const sqlite = fileOf(files, table)
      const columns = columnsOf(table)
      const insert = sqlite.prepare(
        `INSERT INTO ${table.name} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
      )
      sqlite.exec('BEGIN')
      for (const row of rows) insert.run(...row.map(write))
      sqlite.exec('COMMIT')
    },
    async setNextNumber(table, number) {
      if (number === 1n) return
      const sqlite = fileOf(files, table)
      sqlite.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(table.name)
      sqlite.prepare('INSERT INTO sqlite_sequence VALUES (?, ?)').run(table.name, number - 1n)
    },
    async setKeyVersion(version) {
      files.keys.prepare('UPDATE key_change SET version = ?').run(version)
    },
  }
}
