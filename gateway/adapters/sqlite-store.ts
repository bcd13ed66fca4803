import type { PayloadStore } from '../issue/ports.ts'
import type { Database } from './database.ts'

/** The embedded payload store: blocks in the gateway's database. */
export function createSqliteStore({ sqlite, write }: Database): PayloadStore {
  const insert = sqlite.prepare(
    'INSERT INTO block (hash, bytes) VALUES (?, ?) ON CONFLICT DO NOTHING',
  )
  const select = sqlite.prepare('SELECT bytes FROM block WHERE hash = ?')
  const remove = sqlite.prepare('DELETE FROM block WHERE hash = ?')

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
