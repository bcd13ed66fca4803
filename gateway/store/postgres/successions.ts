import { fromHex, type Hex } from '#document/hex.ts'
import type { Successions } from '#promise/supersede.ts'
import { bytesOf, hexOf } from '../columns.ts'
import type { Postgres } from '../drivers/postgres/database.ts'
import type { Query } from '../drivers/postgres/query.ts'
import { MAX_WAITING_REVOCATIONS } from '../rules.ts'

/** The successions in PostgreSQL. A trigger promises the revocations. */
export function createPostgresSuccessions({ query }: Postgres): Successions {
  return {
    async successorOf(documentHash) {
      const [row] = await query('SELECT successor_hash FROM succession WHERE document_hash = $1', [
        fromHex(documentHash),
      ])
      return row && hexOf(row.successor_hash)
    },
    async waiting() {
      const rows = await query(`
        SELECT succession.document_hash FROM succession
        JOIN intent ON intent.kind = 'revoke'
          AND intent.document_hash = succession.document_hash
        WHERE NOT revoked AND plan IS NULL AND block_number IS NULL
        LIMIT ${MAX_WAITING_REVOCATIONS}`)
      return rows.map(({ document_hash }) => hexOf(document_hash))
    },
  }
}

/**
 * Notes the successor of a document.
 *
 * @param root Of that document's batch.
 * @returns `false` when the document has another successor.
 */
export async function claimSuccession(
  query: Query,
  {
    documentHash,
    successorHash,
    root,
  }: { documentHash: Hex; successorHash: Hex; root?: Hex | undefined },
): Promise<boolean> {
  const pair = [fromHex(documentHash), fromHex(successorHash)]
  await query(
    `INSERT INTO succession (document_hash, successor_hash, root) VALUES ($1, $2, $3)
     ON CONFLICT DO NOTHING`,
    [...pair, bytesOf(root)],
  )
  const found = await query(
    'SELECT 1 FROM succession WHERE document_hash = $1 AND successor_hash = $2',
    pair,
  )
  return found.length > 0
}
