import type { Query } from '#store/drivers/postgres/connection.ts'
import type { Kind } from '#store/sql.ts'
import { type Table, typeOf } from '#store/tables.ts'
import {
  columnsOf,
  inGroups,
  kindsOf,
  type Row,
  type Side,
  type Target,
  type Value,
} from './rows.ts'

/** The number of rows that the server sends at a time. Payloads are larger than other rows. */
const ROWS_A_FETCH = 1_000
const PAYLOADS_A_FETCH = 50

/** @param query Runs in one transaction, in which `bigint` is read as text. */
export function readPostgres(query: Query): Side {
  return {
    rows: (table) => inGroups(rowsOf(query, table)),
    async nextNumber({ name, numbered }) {
      const [place] = await query('SELECT pg_get_serial_sequence($1, $2) AS sequence', [
        name,
        numbered,
      ])
      const [row] = await query(`SELECT last_value, is_called FROM ${place?.sequence}`)
      return BigInt(String(row?.last_value)) + (row?.is_called ? 1n : 0n)
    },
    async keyVersion() {
      const [row] = await query('SELECT version FROM key_change')
      return BigInt(String(row?.version))
    },
  }
}

async function* rowsOf(query: Query, table: Table): AsyncIterable<Row> {
  const kinds = kindsOf(table)
  const fetched = ['payload', 'record'].includes(table.name) ? PAYLOADS_A_FETCH : ROWS_A_FETCH
  const order = table.numbered ? ` ORDER BY ${table.numbered}` : ''
  await query(
    `DECLARE moving NO SCROLL CURSOR FOR
     SELECT ${columnsOf(table).join(', ')} FROM ${table.name}${order}`,
  )
  for (;;) {
    const rows = await query(`FETCH ${fetched} FROM moving`)
    for (const row of rows)
      yield Object.values(row).map((value, i) => read(kinds[i] as Kind, value))
    if (rows.length < fetched) break
  }
  await query('CLOSE moving')
}

const read = (kind: Kind, value: unknown): Value =>
  kind === 'integer' && value !== null ? BigInt(value as string | number) : (value as Value)

/** Fills a database that has the schema and no rows. */
export function writePostgres(query: Query): Target {
  return {
    ...readPostgres(query),
    async insert(table, rows) {
      const names = columnsOf(table)
      const kinds = kindsOf(table)
      await query(
        `INSERT INTO ${table.name} (${names.join(', ')})
         OVERRIDING SYSTEM VALUE
         SELECT ${names.map((name) => `item.${name}`).join(', ')}
         FROM unnest(${kinds.map((kind, i) => `$${i + 1}::${typeOf('postgres', kind)}[]`).join(', ')})
           WITH ORDINALITY AS item (${names.join(', ')}, item_place)
         ORDER BY item_place`,
        names.map((_, i) => rows.map((row) => row[i])),
      )
    },
    async setNextNumber({ name, numbered }, number) {
      await query(`ALTER TABLE ${name} ALTER COLUMN ${numbered} RESTART WITH ${number}`)
    },
    async setKeyVersion(version) {
      await query('UPDATE key_change SET version = $1', [version])
    },
  }
}
