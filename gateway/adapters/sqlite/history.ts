import { fromHex, type Hex, toHex } from '../../../document/hex.ts'
import type { History } from '../../history.ts'
import type { Database } from './database.ts'

export type SqliteHistory = History & {
  /** Resolves when it is durable. */
  addBatch(root: Hex, blockNumber: number, transactionHash: Hex): Promise<void>
  /** Adds where documents were issued again by a command. Resolves when it is durable. */
  addDocuments(
    documentHashes: readonly Hex[],
    blockNumber: number,
    transactionHash: Hex,
  ): Promise<void>
  /** @returns The documents and the roots of batches that are in a block from this one on. */
  since(blockNumber: number): { documentHashes: Hex[]; roots: Hex[] }
}

/**
 * The history in the gateway's database. Triggers in the schema write the history of documents,
 * and of batches from changes of the outbox; the command that issues a batch adds the batch here.
 */
export function createSqliteHistory({ sqlite, write }: Database): SqliteHistory {
  const select = sqlite.prepare(`
    SELECT transaction_hash FROM history WHERE document_hash = ?1 AND block_number = ?2
    UNION ALL
    SELECT transaction_hash FROM batch_history WHERE root = ?1 AND block_number = ?2`)
  const insertBatch = sqlite.prepare('INSERT OR REPLACE INTO batch_history VALUES (?, ?, ?)')
  const insert = sqlite.prepare('INSERT OR REPLACE INTO history VALUES (?, ?, ?)')
  const documents = sqlite.prepare(
    'SELECT DISTINCT document_hash AS hash FROM history WHERE block_number >= ?',
  )
  const batches = sqlite.prepare(
    'SELECT DISTINCT root AS hash FROM batch_history WHERE block_number >= ?',
  )
  const hashesOf = (statement: typeof documents, blockNumber: number) =>
    statement.all(blockNumber).map(({ hash }) => toHex(hash as Uint8Array))
  return {
    async transactionOf(hash, blockNumber) {
      const row = select.get(fromHex(hash), blockNumber)
      const transactionHash = row?.transaction_hash as Uint8Array | null | undefined
      return transactionHash ? toHex(transactionHash) : null
    },
    addBatch: (root, blockNumber, transactionHash) =>
      write(() => void insertBatch.run(blockNumber, fromHex(root), fromHex(transactionHash))),
    addDocuments: (documentHashes, blockNumber, transactionHash) =>
      write(() => {
        for (const documentHash of documentHashes)
          insert.run(blockNumber, fromHex(documentHash), fromHex(transactionHash))
      }),
    since: (blockNumber) => ({
      documentHashes: hashesOf(documents, blockNumber),
      roots: hashesOf(batches, blockNumber),
    }),
  }
}
