import type { Hex } from '#document/hex.ts'
import type { PromisedPayloads } from '#promise/ports.ts'
import type { Database } from '../database.ts'

/** Payloads in one read, some kilobytes each. */
const MAX_PAYLOADS = 200

export function createPromisedPayloads({ sqlite, write }: Database): PromisedPayloads {
  const select = sqlite.prepare(`
    SELECT id, document_hash, sealed FROM intent
    WHERE sealed IS NOT NULL AND id > ? AND id <= ? ORDER BY id LIMIT ${MAX_PAYLOADS}`)
  const selectNewest = sqlite.prepare('SELECT max(id) AS id FROM intent')
  const disown = sqlite.prepare(
    "UPDATE intent SET inserted = 0 WHERE document_hash = ? AND kind = 'issue'",
  )

  return {
    async *payloads() {
      // Later intents have only just put their payloads in the store.
      const newest = Number(selectNewest.get()?.id ?? 0)
      for (let last: number | undefined = 0; last !== undefined; ) {
        const rows: Record<string, unknown>[] = select.all(last, newest)
        if (rows.length > 0)
          yield rows.map((row) => ({
            documentHash: row.document_hash as Hex,
            sealed: row.sealed as Uint8Array,
          }))
        last = rows.at(-1)?.id as number | undefined
      }
    },
    disown: (documentHash) =>
      write(() => {
        disown.run(documentHash)
      }),
  }
}
