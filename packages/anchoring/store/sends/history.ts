import { fromHex } from '#document/hex.ts'
import type { History } from '#promise/history.ts'
import type { Database } from '../database.ts'
import { hexOrNull, statement } from '../sql.ts'

const SELECT = statement(`
  SELECT send.transaction_hash FROM record JOIN member ON member.record = record.id
    JOIN send ON send.id = member.send
  WHERE record.hash = :hash AND record.batch IS NULL AND send.block_number = :block
  UNION ALL
  SELECT send.transaction_hash FROM batch JOIN member ON member.batch = batch.id
    JOIN send ON send.id = member.send
  WHERE batch.root = :hash AND send.block_number = :block`)

/** The transactions that anchored documents and batches: sends stay, while nodes forget. */
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
