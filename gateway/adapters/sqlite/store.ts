import type { PayloadStore } from '../../issue/ports.ts'
import type { Database } from './database.ts'

export type SqliteStore = PayloadStore & {
  /** `put`, for use within a write. */
  insert(hash: Uint8Array, bytes: Uint8Array): boolean
  /** `remove`, for use within a write. */
  delete(hash: Uint8Array): void
}

/**
 * The embedded payload store: blocks in the gateway's database. It does not store an erased block
 * again.
 */
export function createSqliteStore({ sqlite, write }: Database): SqliteStore {
  const insertBlock = sqlite.prepare(`
    INSERT INTO block (hash, bytes) SELECT ?1, ?2
    WHERE NOT EXISTS (SELECT 1 FROM tombstone WHERE hash = ?1)
    ON CONFLICT DO NOTHING`)
  const select = sqlite.prepare('SELECT bytes FROM block WHERE hash = ?')
  const has = sqlite.prepare('SELECT 1 FROM block WHERE hash = ?')
  const deleteBlock = sqlite.prepare('DELETE FROM block WHERE hash = ?')

  const insert: SqliteStore['insert'] = (hash, bytes) => insertBlock.run(hash, bytes).changes > 0
  const remove: SqliteStore['delete'] = (hash) => {
    deleteBlock.run(hash)
  }

  return {
    insert,
    delete: remove,
    put: (hash, bytes) => write(() => insert(hash, bytes)),
    async get(hash) {
      const row = select.get(hash) as { bytes: Uint8Array } | undefined
      return row ? { status: 'found', bytes: row.bytes } : { status: 'missing' }
    },
    missing: async (hashes) => hashes.filter((hash) => has.get(hash) === undefined),
    remove: (hash) => write(() => remove(hash)),
  }
}
