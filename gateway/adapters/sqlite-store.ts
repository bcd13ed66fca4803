import type { PayloadStore } from '../issue/ports.ts'
import type { Database } from './database.ts'

/** The embedded payload store: blocks in the gateway's database. */
export function createSqliteStore({ sqlite, write }: Database): PayloadStore {
  const insert = sqlite.prepare(
    'INSERT INTO block (hash, bytes) VALUES (?, ?) ON CONFLICT DO NOTHING',
  )
  const select = sqlite.prepare('SELECT bytes FROM block WHERE hash = ?')
  // Unless it was promised again this moment.
  const remove = sqlite.prepare(`
    DELETE FROM block WHERE hash = ?1 AND NOT EXISTS
      (SELECT 1 FROM intent WHERE document_hash = '0x' || lower(hex(?1)))`)

  return {
    put: (hash, bytes) =>
      write(() => {
        insert.run(hash, bytes)
      }),
    async get(hash) {
      const row = select.get(hash) as { bytes: Uint8Array } | undefined
      return row ? { status: 'found', bytes: row.bytes } : { status: 'missing' }
    },
    remove: (hash) =>
      write(() => {
        remove.run(hash)
      }),
  }
}
