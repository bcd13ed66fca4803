import type { IsBlockErased } from '../tombstones.ts'
import type { Database } from './database.ts'

/** @returns Whether a block was erased, by the gateway's database. */
export function createSqliteIsErased({ sqlite }: Database): IsBlockErased {
  const select = sqlite.prepare('SELECT 1 FROM tombstone WHERE hash = ?')
  return async (hash) => select.get(hash) !== undefined
}
