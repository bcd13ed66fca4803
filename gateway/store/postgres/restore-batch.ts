import { fromHex } from '#document/hex.ts'
import type { CommandDatabase } from '../command-database.ts'
import { addBatch } from './batch-log.ts'
import { bytesOf } from './columns.ts'
import type { Postgres } from './database.ts'
import { INSERT_BATCH_HISTORY } from './history.ts'
import { KEPT_STATUSES } from './index-documents.ts'

/** @returns `addBatch`; see `CommandDatabase`. */
export function createRestoreBatch({ transaction }: Postgres): CommandDatabase['addBatch'] {
  return (batch, { blockNumber, blockTime, transactionHash, status }) =>
    transaction(async (query) => {
      const { id } = await addBatch(query, batch)
      await query(
        `UPDATE batch SET promised = true, promised_at = $4, block_number = $2, status = $3
         WHERE id = $1`,
        [id, blockNumber, KEPT_STATUSES.indexOf(status), blockTime],
      )
      await query(INSERT_BATCH_HISTORY, [
        ...[[blockNumber], [fromHex(batch.root)]],
        [bytesOf(transactionHash)],
      ])
      return id
    })
}
