import { fromHex, toHex } from '../../document/hex.ts'
import type { History } from '../history.ts'
import type { Database } from './database.ts'

/** The history in the gateway's database; the outbox writes it, see the triggers in the schema. */
export function createSqliteHistory({ sqlite }: Database): History {
  const select = sqlite.prepare(`
    SELECT transaction_hash FROM history WHERE document_hash = ? AND block_number = ?`)
  return {
    async transactionOf(documentHash, blockNumber) {
      const row = select.get(fromHex(documentHash), blockNumber)
      const hash = row?.transaction_hash as Uint8Array | null | undefined
      return hash ? toHex(hash) : null
    },
  }
}
