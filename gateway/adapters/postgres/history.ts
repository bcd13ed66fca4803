import { fromHex } from '../../../document/hex.ts'
import type { History } from '../../history.ts'
import { hexOrNull } from './columns.ts'
import type { Postgres } from './database.ts'

/** The history in PostgreSQL; triggers write it. */
export function createPostgresHistory({ query, brief }: Postgres): History {
  return {
    async transactionOf(hash, blockNumber) {
      const [row] = await brief(() =>
        query(
          `SELECT transaction_hash FROM history WHERE document_hash = $1 AND block_number = $2
         UNION ALL
         SELECT transaction_hash FROM batch_history WHERE root = $1 AND block_number = $2`,
          [fromHex(hash), blockNumber],
        ),
      )
      return row ? hexOrNull(row.transaction_hash) : null
    },
  }
}
