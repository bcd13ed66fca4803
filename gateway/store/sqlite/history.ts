import { fromHex, toHex } from '#document/hex.ts'
import type { History } from '#promise/history.ts'
import { bytesOf, hexOf } from '../columns.ts'
import type { Anchored, AnchoredLog } from '../command-database.ts'
import type { Database } from '../drivers/sqlite/database.ts'

/**
 * The history in the gateway's database. Triggers in the schema write the history of documents, and
 * of batches, from changes of the outbox; commands write it themselves.
 */
export function createSqliteHistory({ sqlite }: Database): History {
  const select = sqlite.prepare(`
    SELECT transaction_hash FROM history WHERE document_hash = ?1 AND block_number = ?2
    UNION ALL
    SELECT transaction_hash FROM batch_history WHERE root = ?1 AND block_number = ?2`)
  return {
    async transactionOf(hash, blockNumber) {
      const row = select.get(fromHex(hash), blockNumber)
      const transactionHash = row?.transaction_hash as Uint8Array | null | undefined
      return transactionHash ? toHex(transactionHash) : null
    },
  }
}

/** The history as commands write it. */
export function createAnchoredLog({ sqlite, write }: Database): AnchoredLog {
  const insert = sqlite.prepare('INSERT OR REPLACE INTO history VALUES (?, ?, ?)')
  const insertBatch = sqlite.prepare('INSERT OR REPLACE INTO batch_history VALUES (?, ?, ?)')
  const documents = sqlite.prepare(
    'SELECT DISTINCT document_hash AS hash FROM history WHERE block_number >= ?',
  )
  const batches = sqlite.prepare(
    'SELECT DISTINCT root AS hash FROM batch_history WHERE block_number >= ?',
  )
  const hashesOf = (statement: typeof documents, blockNumber: number) =>
    statement.all(blockNumber).map(({ hash }) => hexOf(hash))
  const run = (into: typeof insert, { hash, blockNumber, transactionHash }: Anchored) =>
    into.run(...[blockNumber, fromHex(hash)], bytesOf(transactionHash))
  return {
    addBatch: (batch) => write(() => void run(insertBatch, batch)),
    addDocuments: (all) =>
      write(() => {
        for (const one of all) run(insert, one)
      }),
    since: async (blockNumber) => ({
      documentHashes: hashesOf(documents, blockNumber),
      roots: hashesOf(batches, blockNumber),
    }),
  }
}
