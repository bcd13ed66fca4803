import { fromHex, type Hex } from '#document/hex.ts'
import type { HistoryPlace, KeptRows } from './command-database.ts'
import type { Database } from './database.ts'
import { createIsErased, createPayloadStore } from './payloads.ts'
import { KEPT_STATUSES } from './rules.ts'
import { all, each, hexOf, numberOrNull, statement } from './sql.ts'

/** The number of rows of the history in one read. */
const PAGE = 5_000

const placesIn = (table: string, hash: string) =>
  statement(
    (sql) => `
      SELECT item.block AS block, item.hash AS hash FROM ${sql.items({ block: 'integer', hash: 'bytes' })}
      JOIN ${table} ON ${table}.block_number = item.block AND ${table}.${hash} = item.hash`,
  )
const IN_HISTORY = placesIn('history', 'document_hash')
const IN_BATCH_HISTORY = placesIn('batch_history', 'root')
const SELECT_INDEXED = statement(
  (sql) => `
    SELECT document_hash, block_number, status FROM document
    WHERE ${sql.isIn('document_hash', 'hashes', 'bytes')}
    ORDER BY batch IS NULL, batch DESC, id DESC`,
)
const SELECT_HISTORY = statement(`
  SELECT block_number, document_hash FROM history
  WHERE (block_number, document_hash) > (:block, :hash)
  ORDER BY block_number, document_hash LIMIT ${PAGE}`)

/**
 * The stored rows, for comparisons with the chain. @param database A database that was opened to
 * read.
 */
export function createKeptRows(
  database: Database,
): Omit<KeptRows, 'registry' | 'issuerId' | 'damage' | 'close'> {
  const inHistory = createPlaces(database, IN_HISTORY)
  const inBatchHistory = createPlaces(database, IN_BATCH_HISTORY)
  const isErased = createIsErased(database)
  return {
    historyOf: (hash, block) => inHistory({ hash, block }),
    batchHistoryOf: (hash, block) => inBatchHistory({ hash, block }),
    isErased: (hash) => isErased(fromHex(hash)),
    indexOf: database.together({
      *work(hashes: readonly Hex[]) {
        const rows = yield* all(SELECT_INDEXED, { hashes: hashes.map(fromHex) })
        const found = new Map(
          rows.map((row) => [
            hexOf(row.document_hash),
            {
              block: numberOrNull(row.block_number),
              status: KEPT_STATUSES[Number(row.status)] ?? null,
            },
          ]),
        )
        return hashes.map((hash) => found.get(hash))
      },
      reads: true,
    }),
    blocks: createPayloadStore(database),
    history: () => readHistory(database),
  }
}

type Place = { hash: Hex; block: number }

function createPlaces(database: Database, of: typeof IN_HISTORY) {
  return database.together<Place, boolean>({
    *work(places) {
      const items = places.map(({ hash, block }) => ({ hash: fromHex(hash), block }))
      const rows = yield* each(of, items)
      const found = new Set(rows.map((row) => `${Number(row.block)} ${hexOf(row.hash)}`))
      return places.map(({ hash, block }) => found.has(`${block} ${hash}`))
    },
    reads: true,
  })
}

async function* readHistory(database: Database): AsyncGenerator<HistoryPlace> {
  let last: HistoryPlace | undefined
  do {
    const rows = await database.read(SELECT_HISTORY, {
      block: last?.blockNumber ?? -1,
      hash: fromHex(last?.documentHash ?? '0x'),
    })
    const places = rows.map((row) => ({
      blockNumber: Number(row.block_number),
      documentHash: hexOf(row.document_hash),
    }))
    yield* places
    last = places.at(-1)
  } while (last)
}
