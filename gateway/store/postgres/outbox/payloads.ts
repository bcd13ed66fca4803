import { fromHex } from '#document/hex.ts'
import type { PromisedPayloads } from '#promise/ports.ts'
import { hexOf } from '../columns.ts'
import type { Postgres } from '../database.ts'

/** Payloads in one read, some kilobytes each. */
const MAX_PAYLOADS = 200

export function createPromisedPayloads({ query }: Postgres): PromisedPayloads {
  return {
    async *payloads() {
      // Later intents have only just put their payloads in the store.
      const [newest] = await query('SELECT coalesce(max(id), 0) AS id FROM intent')
      for (let last: number | undefined = 0; last !== undefined; ) {
        const rows: { id: number; document_hash: Uint8Array; sealed: Uint8Array }[] = await query(
          `SELECT id, document_hash, sealed FROM intent
           WHERE sealed IS NOT NULL AND id > $1 AND id <= $2 ORDER BY id LIMIT ${MAX_PAYLOADS}`,
          [last, newest?.id],
        )
        if (rows.length > 0)
          yield rows.map((row) => ({
            documentHash: hexOf(row.document_hash),
            sealed: row.sealed,
          }))
        last = rows.at(-1)?.id
      }
    },
    async disown(documentHash) {
      await query(
        "UPDATE intent SET inserted = false WHERE document_hash = $1 AND kind = 'issue'",
        [fromHex(documentHash)],
      )
    },
  }
}
