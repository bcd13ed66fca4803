import { fromHex, type Hex, toHex } from '../../../document/hex.ts'
import type { History } from '../../history.ts'
import type { Database } from './database.ts'

export type SqliteHistory = History & {
  /** Resolves when it is durable. */
  addBatch(root: Hex, blockNumber: number, transactionHash: Hex): Promise<void>
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
  const insert = sqlite.prepare('INSERT OR REPLACE INTO batch_history VALUES (?, ?, ?)')
  return {
    async transactionOf(hash, blockNumber) {
      const row = select.get(fromHex(hash), blockNumber)
      const transactionHash = row?.transaction_hash as Uint8Array | null | undefined
      return transactionHash ? toHex(transactionHash) : null
    },
    addBatch: (root, blockNumber, transactionHash) =>
      write(() => void insert.run(blockNumber, fromHex(root), fromHex(transactionHash))),
  }
}
