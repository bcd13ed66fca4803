import type { PayloadStore } from '#promise/ports.ts'
import type { Database } from '../drivers/sqlite/database.ts'
import { createMergeKeys, KEY_KINDS } from './sorted-keys.ts'

export type SqliteStore = PayloadStore & {
  has(hash: Uint8Array): boolean
  /** `put`, for use within a write. */
  insert(hash: Uint8Array, bytes: Uint8Array): boolean
  /** `insert` of bytes that the store cannot have yet: it does not look for them. */
  insertNew(hash: Uint8Array, bytes: Uint8Array): boolean
  /** `remove`, for use within a write. */
  delete(hash: Uint8Array): void
}

/** A condition on `block_by_key`: the block has the hash `?1`. */
export const IS_BLOCK = 'key = substr(?1, 1, 8) AND hash = ?1'
export const DELETE_BLOCK = `
  DELETE FROM block WHERE id IN (SELECT id FROM block_by_key WHERE ${IS_BLOCK})`

/**
 * The embedded payload store: blocks in the gateway's database. It does not store an erased block
 * again.
 */
export function createSqliteStore({ sqlite, write }: Database): SqliteStore {
  const insertBlock = sqlite.prepare(`
    INSERT INTO block (hash, bytes) SELECT ?1, ?2
    WHERE NOT EXISTS (SELECT 1 FROM tombstone WHERE hash = ?1)`)
  const select = sqlite.prepare(`SELECT bytes FROM block_by_key WHERE ${IS_BLOCK} LIMIT 1`)
  const selectOne = sqlite.prepare(`SELECT 1 FROM block_by_key WHERE ${IS_BLOCK} LIMIT 1`)
  const deleteBlock = sqlite.prepare(DELETE_BLOCK)
  const mergeKeys = createMergeKeys(sqlite, KEY_KINDS.payload)

  const has = (hash: Uint8Array) => selectOne.get(hash) !== undefined
  const insertNew: SqliteStore['insertNew'] = (hash, bytes) => {
    const { changes, lastInsertRowid } = insertBlock.run(hash, bytes)
    if (changes > 0) mergeKeys(lastInsertRowid)
    return changes > 0
  }
  const insert: SqliteStore['insert'] = (hash, bytes) => !has(hash) && insertNew(hash, bytes)
  const remove: SqliteStore['delete'] = (hash) => {
    deleteBlock.run(hash)
  }

  return {
    has,
    insert,
    insertNew,
    delete: remove,
    put: (hash, bytes) => write(() => insert(hash, bytes)),
    async get(hash) {
      const row = select.get(hash) as { bytes: Uint8Array } | undefined
      return row ? { status: 'found', bytes: row.bytes } : { status: 'missing' }
    },
    missing: async (hashes) => hashes.filter((hash) => !has(hash)),
    remove: (hash) => write(() => remove(hash)),
  }
}
