import { fromHex, type Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { Database } from './database.ts'
import { createIsErased, createPayloadStore } from './payloads.ts'
import { all, hexOf, numberOrNull, type Row, statement } from './sql.ts'
import { KEPT_STATUSES } from './tables.ts'

/** The number of documents in one read. */
const PAGE = 5_000

const BLOCK_OF = (column: string, id: string) => `(SELECT send.block_number
  FROM member JOIN send ON send.id = member.send WHERE member.${column} = ${id})`
const SELECT_KEPT = statement(
  (sql) => `
    SELECT hash, status, batch, coalesce(${BLOCK_OF('record', 'record.id')},
      ${BLOCK_OF('batch', 'record.batch')}) AS block_number
    FROM record WHERE ${sql.isIn('hash', 'hashes', 'bytes')}
    ORDER BY batch IS NULL, batch DESC, id DESC`,
)
const SELECT_BATCHES = statement(
  (sql) => `
    SELECT root AS hash, status, ${BLOCK_OF('batch', 'batch.id')} AS block_number FROM batch
    WHERE ${sql.isIn('root', 'hashes', 'bytes')}`,
)
const SELECT_ANCHORED = statement(`
  SELECT record.id AS id, record.hash AS hash, send.block_number AS block_number
  FROM record JOIN member ON member.record = record.id JOIN send ON send.id = member.send
  WHERE record.id > :after AND send.block_number IS NOT NULL ORDER BY record.id LIMIT ${PAGE}`)

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
  const isErased = createIsErased(database)
  return {
    isErased: (hash: Hex) => isErased(fromHex(hash)),
    /** @returns The block and status of a document; that which was issued alone, if there is one. */
    indexOf: createFind(database, SELECT_KEPT),
    /** Same for a batch, by its root. */
    batchOf: createFind(database, SELECT_BATCHES),
    /** The payloads in the database, whose bytes are not checked. */
    payloads: createPayloadStore(database),
    /** @returns The documents that were issued alone and are in a block, in any order. */
    anchored: () => readAnchored(database),
  }
}

function createFind(database: Database, select: typeof SELECT_KEPT) {
  return database.together({
    *work(hashes: readonly Hex[]) {
      const rows = yield* all(select, { hashes: hashes.map(fromHex) })
      const found = new Map(rows.map((row) => [hexOf(row.hash), keptOf(row)]))
      return hashes.map((hash) => found.get(hash))
    },
    reads: true,
  })
}

function keptOf(row: Row) {
  return {
    block: numberOrNull(row.block_number),
    status: KEPT_STATUSES[Number(row.status)] ?? null,
  }
}

async function* readAnchored(
  database: Database,
): AsyncGenerator<{ documentHash: Hex; blockNumber: number }> {
  for (let after = 0; ; ) {
    const rows = await database.read(SELECT_ANCHORED, { after })
    if (rows.length === 0) return
    for (const row of rows)
      yield { documentHash: hexOf(row.hash), blockNumber: Number(row.block_number) }
    after = Number(rows.at(-1)?.id)
  }
}
