import { fromHex, type Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { Database } from './database.ts'
import { type HistoryPlace, historyPlaceOf } from './index-rebuild.ts'
import { createIsErased, createPayloadStore } from './payloads.ts'
import { all, each, hexOf, numberOrNull, statement } from './sql.ts'
import { KEPT_STATUSES } from './tables.ts'

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

/** Reads a database, to compare it with the chain. */
export type KeptRows = ReturnType<typeof createKeptRows> & {
  registry: RegistryId
  issuerId: number
  /** @returns The damage that it reports about itself; empty when there is none. */
  damage(): Promise<string[]>
  /** Present when writes were lost: lets the gateway issue again. */
  acceptLoss?(): void
  close(): Promise<void>
}

/** @param database A database that was opened to read. */
export function createKeptRows(database: Database) {
  const inHistory = createPlaces(database, IN_HISTORY)
  const inBatchHistory = createPlaces(database, IN_BATCH_HISTORY)
  const isErased = createIsErased(database)
  return {
    historyOf: (hash: Hex, block: number) => inHistory({ hash, block }),
    batchHistoryOf: (hash: Hex, block: number) => inBatchHistory({ hash, block }),
    isErased: (hash: Hex) => isErased(fromHex(hash)),
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
    /** The payloads in the database, whose bytes are not checked. */
    blocks: createPayloadStore(database),
    /** @returns Rows of the history, in any order. */
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
    const places = rows.map(historyPlaceOf)
    yield* places
    last = places.at(-1)
  } while (last)
}
