import { createHash } from 'node:crypto'
import { type Hex, toHex } from '#document/hex.ts'
import type { Kind } from '#store/sql.ts'
import { type Table, tableOf } from '#store/tables.ts'

/** A value in the form that both databases share. */
export type Value = null | bigint | string | boolean | Uint8Array
/** The values in the order of the table's columns. */
export type Row = readonly Value[]

/** One of the two databases. Nobody else changes it meanwhile. */
export type Side = {
  /** All rows of a table, some at a time. */
  rows(table: Table): AsyncIterable<readonly Row[]>
  /** @returns The number of the next row, for tables with numbered rows. */
  nextNumber(table: Table): Promise<bigint>
  /** @returns The number of changes to API keys. */
  keyVersion(): Promise<bigint>
}

/** The database to fill, which is empty at first. */
export type Target = Side & {
  insert(table: Table, rows: readonly Row[]): Promise<void>
  setNextNumber(table: Table, number: bigint): Promise<void>
  setKeyVersion(version: bigint): Promise<void>
}

/** The limits of what is in memory at a time. */
const MAX_ROWS = 500
const MAX_BYTES = 4 * 1024 * 1024

/** Gathers rows into groups of limited size. */
export async function* inGroups(rows: Iterable<Row> | AsyncIterable<Row>): AsyncIterable<Row[]> {
  let group: Row[] = []
  let bytes = 0
  for await (const row of rows) {
    group.push(row)
    for (const value of row) if (value instanceof Uint8Array) bytes += value.length
    if (group.length < MAX_ROWS && bytes < MAX_BYTES) continue
    yield group
    group = []
    bytes = 0
  }
  if (group.length > 0) yield group
}

/** The columns that a copy includes. */
export const columnsOf = ({ columns, local }: Table): string[] =>
  Object.keys(columns).filter((name) => !local.includes(name))
export const kindsOf = (table: Table): Kind[] =>
  columnsOf(table).map((name) => table.columns[name] as Kind)

/**
 * The number of rows of a table, and a sum of their hashes with which two databases are compared.
 */
export type Sum = { rows: number; digest: bigint }

/** Adds up rows in any order. */
export function createSum(): { add(rows: readonly Row[]): void; sum(): Sum } {
  let rows = 0
  let digest = 0n
  return {
    add(some) {
      rows += some.length
      for (const row of some) digest = BigInt.asUintN(256, digest + digestOf(row))
    },
    sum: () => ({ rows, digest }),
  }
}

/** @returns The SHA-256 of the type, length and content of all values, one after another. */
function digestOf(row: Row): bigint {
  const hash = createHash('sha256')
  for (const value of row) {
    const bytes = value instanceof Uint8Array ? value : Buffer.from(String(value))
    const type = value === null ? 'null' : value instanceof Uint8Array ? 'bytes' : typeof value
    hash.update(`${type} ${bytes.length} `).update(bytes)
  }
  return BigInt(`0x${hash.digest('hex')}`)
}

/** @returns A reader of columns of a table's rows, some at a time. */
async function* columnsIn(
  side: Side,
  name: string,
  columns: readonly string[],
): AsyncIterable<Row[]> {
  const table = tableOf(name)
  const places = columns.map((column) => columnsOf(table).indexOf(column))
  for await (const rows of side.rows(table))
    yield rows.map((row) => places.map((at) => row[at] ?? null))
}

/** The hashes of documents that were issued alone, or the roots of batches, that are in a block. */
export async function* anchoredIn(side: Side, name: 'record' | 'batch'): AsyncIterable<Hex[]> {
  const inFlight = new Set<unknown>()
  const pending = new Set<unknown>()
  for await (const rows of columnsIn(side, 'send', ['id', 'block_number']))
    for (const [id, block] of rows) if (block === null) inFlight.add(id)
  for await (const rows of columnsIn(side, 'waiting', [name]))
    for (const [id] of rows) pending.add(id)
  for await (const rows of columnsIn(side, 'member', ['send', name]))
    for (const [send, id] of rows) if (inFlight.has(send)) pending.add(id)
  const columns = name === 'record' ? ['id', 'hash', 'batch'] : ['id', 'root', 'promised']
  for await (const rows of columnsIn(side, name, columns))
    yield rows
      .filter(([id, , other]) => !pending.has(id) && (name === 'record' ? other === null : other))
      .map(([, hash]) => toHex(hash as Uint8Array))
}
