import type { Hex } from '../../document/hex.ts'
import type { IdempotencyLog } from '../issue/ports.ts'
import type { Database } from './database.ts'

/** How long a key is remembered; milliseconds. */
const KEPT = 7 * 86_400_000

/** The idempotency log in the gateway's database. */
export function createSqliteIdempotencyLog({ sqlite, write }: Database): IdempotencyLog {
  const forget = sqlite.prepare('DELETE FROM idempotency WHERE claimed_at < ?')
  const insert = sqlite.prepare(`
    INSERT INTO idempotency (key, document_hash, claimed_at) VALUES (?, ?, ?)
    ON CONFLICT DO NOTHING`)
  const select = sqlite.prepare('SELECT document_hash FROM idempotency WHERE key = ?')
  return {
    claim: (key, documentHash) =>
      write(() => {
        const now = Date.now()
        forget.run(now - KEPT)
        insert.run(key, documentHash, now)
        const row = select.get(key) as { document_hash: Hex }
        return row.document_hash
      }),
    has: async (key) => select.get(key) !== undefined,
  }
}
