import pg from 'pg'
import { groupCalls } from '#base/grouping.ts'
import type { Log } from '#base/log.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import { hexOf } from '../columns.ts'
import type { HistoryPlace, KeptRows } from '../command-database.ts'
import { poolOptionsOf } from '../drivers/postgres/connection.ts'
import { createTransactions } from '../drivers/postgres/database.ts'
import { DatabaseUrlError } from '../drivers/postgres/errors.ts'
import type { Query } from '../drivers/postgres/query.ts'
import { KEPT_STATUSES } from '../rules.ts'
import { readBinding } from './binding.ts'
import { readSchemaVersion } from './migrate.ts'
import { createPostgresIsErased, createPostgresStore } from './store.ts'

const MAX_CONNECTIONS = 4
/** Documents that are looked up together. */
const MAX_GROUP = 200
/** Rows of the history in one read. */
const PAGE = 5_000

/**
 * Opens a PostgreSQL database to read; gateways may run.
 *
 * @throws {DatabaseUrlError} for one without a schema of this version, or that nobody has used.
 * @throws {IssueError} `store_unavailable`.
 */
export async function openPostgresKeptRows(url: string, log: Log): Promise<KeptRows> {
  const pool = new pg.Pool(poolOptionsOf(url, MAX_CONNECTIONS))
  pool.on('error', (error) => log.warn('postgres_connection_lost', { error: error.message }))
  const { query } = createTransactions(pool)
  try {
    const { version, newest } = await readSchemaVersion(query)
    if (version !== newest)
      throw new DatabaseUrlError(
        `leads to a database with the schema ${version}, this version's is ${newest}: start a gateway of the version that you use`,
      )
    const binding = await readBinding(query)
    if (!binding) throw new DatabaseUrlError('leads to a database that no gateway has used')
    return {
      ...binding,
      ...createLookups(query),
      blocks: createPostgresStore({ query, brief: (read) => read() }),
      damage: () => readDamage(query),
      history: () => readHistory(query),
      close: () => pool.end(),
    }
  } catch (error) {
    await pool.end()
    throw error
  }
}

type Place = { hash: Hex; block: number }

function createLookups(
  query: Query,
): Pick<KeptRows, 'historyOf' | 'batchHistoryOf' | 'indexOf' | 'isErased'> {
  const placesIn = (table: string, hash: string) =>
    groupCalls<Place, boolean>({
      maxItems: MAX_GROUP,
      async run(places) {
        const rows = await query(
          `SELECT ${table}.block_number, ${table}.${hash} AS hash
           FROM unnest($1::bigint[], $2::bytea[]) AS item (block, hash)
           JOIN ${table} ON ${table}.block_number = item.block AND ${table}.${hash} = item.hash`,
          [places.map(({ block }) => block), places.map((place) => fromHex(place.hash))],
        )
        const found = new Set(rows.map((row) => `${row.block_number} ${hexOf(row.hash)}`))
        return places.map((place) => found.has(`${place.block} ${place.hash}`))
      },
    })
  const [inHistory, inBatchHistory] = [
    placesIn('history', 'document_hash'),
    placesIn('batch_history', 'root'),
  ]
  const isErased = createPostgresIsErased({ query })
  return {
    historyOf: (hash, block) => inHistory({ hash, block }),
    batchHistoryOf: (hash, block) => inBatchHistory({ hash, block }),
    isErased: (hash) => isErased(fromHex(hash)),
    indexOf: groupCalls({
      maxItems: MAX_GROUP,
      async run(hashes) {
        const rows = await query(
          `SELECT DISTINCT ON (document_hash) document_hash, block_number, status FROM document
           WHERE document_hash = ANY($1) ORDER BY document_hash, batch NULLS FIRST, id`,
          [hashes.map(fromHex)],
        )
        const found = new Map(
          rows.map((row) => [
            hexOf(row.document_hash),
            {
              block: row.block_number as number | null,
              status: KEPT_STATUSES[Number(row.status)] ?? null,
            },
          ]),
        )
        return hashes.map((hash) => found.get(hash))
      },
    }),
  }
}

/** Pages that the server found damaged when it read them. */
async function readDamage(query: Query): Promise<string[]> {
  const [row] = await query(
    'SELECT checksum_failures AS failures FROM pg_stat_database WHERE datname = current_database()',
  )
  const failures = Number(row?.failures ?? 0)
  return failures > 0 ? [`PostgreSQL counted ${failures} checksum failures`] : []
}

async function* readHistory(query: Query): AsyncGenerator<HistoryPlace> {
  let last: HistoryPlace | undefined
  do {
    const rows = await query(
      `SELECT block_number, document_hash FROM history
       WHERE (block_number, document_hash) > ($1, $2)
       ORDER BY block_number, document_hash LIMIT ${PAGE}`,
      [last?.blockNumber ?? -1, last ? fromHex(last.documentHash) : new Uint8Array()],
    )
    const places = rows.map((row) => ({
      blockNumber: Number(row.block_number),
      documentHash: hexOf(row.document_hash),
    }))
    yield* places
    last = places.at(-1)
  } while (last)
}
