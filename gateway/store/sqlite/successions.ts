import { fromHex, type Hex } from '#document/hex.ts'
import type { Successions } from '#promise/supersede.ts'
import { bytesOf, hexOf } from '../columns.ts'
import type { Database } from '../drivers/sqlite/database.ts'
import { MAX_WAITING_REVOCATIONS } from '../rules.ts'

/** The successions in the gateway's database. Triggers in the schema promise the revocations. */
export function createSqliteSuccessions({ sqlite }: Database): Successions {
  const select = sqlite.prepare('SELECT successor_hash FROM succession WHERE document_hash = ?')
  const selectWaiting = sqlite.prepare(`
    SELECT succession.document_hash FROM succession
    JOIN intent ON kind = 'revoke'
      AND intent.document_hash = '0x' || lower(hex(succession.document_hash))
    WHERE revoked = 0 AND plan IS NULL AND block_number IS NULL LIMIT ${MAX_WAITING_REVOCATIONS}`)
  return {
    async successorOf(documentHash) {
      const row = select.get(fromHex(documentHash))
      return row && hexOf(row.successor_hash)
    },
    waiting: async () => selectWaiting.all().map((row) => hexOf(row.document_hash)),
  }
}

/**
 * @returns A function that notes the successor of a document, for use within a write; `false` when
 *   the document has another one. Its `root` is that of the document's batch.
 */
export function createClaimSuccession({ sqlite }: Database) {
  const insert = sqlite.prepare(`
    INSERT INTO succession (document_hash, successor_hash, root) VALUES (?, ?, ?)
    ON CONFLICT DO NOTHING`)
  const has = sqlite.prepare(
    'SELECT 1 FROM succession WHERE document_hash = ? AND successor_hash = ?',
  )
  return (documentHash: Hex, successorHash: Hex, root?: Hex): boolean => {
    const row = [fromHex(documentHash), fromHex(successorHash)] as const
    insert.run(...row, bytesOf(root))
    return has.get(...row) !== undefined
  }
}
