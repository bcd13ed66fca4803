import { fromHex } from '#document/hex.ts'
import type { History } from '#promise/history.ts'
import type { Database } from './database.ts'
import { hexOrNull, statement } from './sql.ts'

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
