import { fromHex } from '#document/hex.ts'
import type { History } from '#promise/history.ts'
import type { AnchoredLog } from './command-database.ts'
import type { Database } from './database.ts'
import { addHistory } from './outcomes.ts'
import { hexOf, hexOrNull, statement } from './sql.ts'

const SELECT = statement(`
  SELECT transaction_hash FROM history WHERE document_hash = :hash AND block_number = :block
  UNION ALL
  SELECT transaction_hash FROM batch_history WHERE root = :hash AND block_number = :block`)

export function createHistory(database: Database): History {
  return {
    async transactionOf(hash, blockNumber) {
      const [row] = await database.brief(() =>
        database.read(SELECT, { hash: fromHex(hash), block: blockNumber }),
      )
      return row ? hexOrNull(row.transaction_hash) : null
    },
  }
}

const DOCUMENTS_SINCE = statement(
  'SELECT DISTINCT document_hash AS hash FROM history WHERE block_number >= :block',
)
const BATCHES_SINCE = statement(
  'SELECT DISTINCT root AS hash FROM batch_history WHERE block_number >= :block',
)

/** The history for commands, which also write it. */
export function createAnchoredLog(database: Database): AnchoredLog {
  return {
    addDocuments: (documents) => database.write(() => addHistory(false, documents)),
    addBatch: (batch) => database.write(() => addHistory(true, [batch])),
    async since(block) {
      const documents = await database.read(DOCUMENTS_SINCE, { block })
      const batches = await database.read(BATCHES_SINCE, { block })
      return {
        documentHashes: documents.map(({ hash }) => hexOf(hash)),
        roots: batches.map(({ hash }) => hexOf(hash)),
      }
    },
  }
}
