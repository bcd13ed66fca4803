import type { Query } from '#store/drivers/postgres/query.ts'
import { DRAFTS, type Kind, type Table } from './list.ts'
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

/** Rows that the server sends at a time. Payloads are larger than other rows. */
const ROWS_A_FETCH = 1_000
const PAYLOADS_A_FETCH = 50

/** The hashes that drafts name, with their places. */
const DRAFTED = `
  SELECT id AS draft, place, substring(hashes FROM 32 * place + 1 FOR 32) AS hash
  FROM batch_draft, generate_series(0, length(hashes) / 32 - 1) AS place`

/** @param query In one transaction, in which `bigint` is read as text. */
export function readPostgres(query: Query): Side {
  return {
    rows: (table) => inGroups(rowsOf(query, table)),
    async nextNumber({ name, numbered }) {
      const [place] = await query('SELECT pg_get_serial_sequence($1, $2) AS sequence', [
        ...[name, numbered],
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
  const fetched =
    table.name === 'block' || table.name === 'intent' ? PAYLOADS_A_FETCH : ROWS_A_FETCH
  for (const select of selectsOf(table)) {
    await query(`DECLARE moving NO SCROLL CURSOR FOR ${select}`)
    for (;;) {
      const rows = await query(`FETCH ${fetched} FROM moving`)
      for (const row of rows)
        yield Object.values(row).map((value, i) => read(kinds[i] as Kind, value))
      if (rows.length < fetched) break
    }
    await query('CLOSE moving')
  }
}

function selectsOf(table: Table): string[] {
  const columns = columnsOf(table).join(', ')
  // The blocks of a draft one after the other: SQLite names them by the first and the last.
  if (table.name === 'block')
    return [
      `SELECT block.hash, bytes FROM (${DRAFTED}) AS drafted JOIN block USING (hash)
       ORDER BY draft, place`,
      `SELECT hash, bytes FROM block
       WHERE NOT EXISTS (SELECT 1 FROM (${DRAFTED}) AS drafted WHERE drafted.hash = block.hash)`,
    ]
  if (table === DRAFTS)
    return [
      `SELECT id, request, (
         SELECT string_agg(block.hash, '' ORDER BY place)
         FROM (${DRAFTED}) AS drafted JOIN block USING (hash) WHERE draft = batch_draft.id
       ) AS hashes, kubo_root, batch FROM batch_draft ORDER BY id`,
    ]
  const order = table.numbered ? ` ORDER BY ${table.numbered}` : ''
  return [`SELECT ${columns} FROM ${table.name}${order}`]
}

function read(kind: Kind, value: unknown): Value {
  if (value === null) return null
  if (kind === 'integer' || kind === 'decimal') return BigInt(value as string | number)
  if (kind === 'json' || kind === 'texts') return canonicalJson(value)
  return value as Value
}

/** What the values of a column are sent as; the column may be of a smaller type. */
const SENT_AS: Record<Kind, string> = {
  integer: 'bigint',
  decimal: 'numeric',
  text: 'text',
  bytes: 'bytea',
  hex: 'bytea',
  flag: 'boolean',
  json: 'text',
  texts: 'text',
}

/** @returns An expression of what a column gets. */
function stored(kind: Kind, name: string): string {
  if (kind === 'json') return `item.${name}::jsonb`
  if (kind !== 'texts') return `item.${name}`
  return `CASE WHEN item.${name} IS NOT NULL
    THEN ARRAY(SELECT jsonb_array_elements_text(item.${name}::jsonb)) END`
}

/**
 * Fills a database that has the schema and no rows, without its triggers.
 *
 * @param account Of all that is in the outbox; SQLite's has one only.
 */
export function writePostgres(query: Query, account: Uint8Array): Target {
  async function insert(table: Table, rows: readonly Row[]): Promise<readonly Row[]> {
    const names = columnsOf(table)
    const kinds = kindsOf(table)
    const hasAccount = table.name === 'plan' || table.name === 'intent'
    const { repeats } = table
    const added = await query(
      `INSERT INTO ${table.name} (${[...names, ...(hasAccount ? ['account'] : [])].join(', ')})
       OVERRIDING SYSTEM VALUE
       SELECT ${names.map((name, i) => stored(kinds[i] as Kind, name)).join(', ')}
         ${hasAccount ? `, $${names.length + 1}::bytea` : ''}
       FROM unnest(${kinds.map((kind, i) => `$${i + 1}::${SENT_AS[kind]}[]`).join(', ')})
         WITH ORDINALITY AS item (${names.join(', ')}, item_place)
       ORDER BY item_place
       ${repeats ? `ON CONFLICT DO NOTHING RETURNING ${repeats}` : ''}`,
      [...names.map((_, i) => rows.map((row) => row[i])), ...(hasAccount ? [account] : [])],
    )
    if (!repeats || added.length === rows.length) return rows
    const at = names.indexOf(repeats)
    const left = new Set(added.map((row) => keyOf(read(kinds[at] as Kind, row[repeats]))))
    return rows.filter((row) => left.delete(keyOf(row[at] as Value)))
  }

  return {
    ...readPostgres(query),
    insert,
    async setNextNumber({ name, numbered }, number) {
      await query(`ALTER TABLE ${name} ALTER COLUMN ${numbered} RESTART WITH ${number}`)
    },
    async setKeyVersion(version) {
      await query('UPDATE key_change SET version = $1', [version])
    },
  }
}

const keyOf = (value: Value) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)
