import type { BlockSource } from '../../verifier/ports.ts'
import type { PayloadStore } from '../issue/ports.ts'
import type { Database } from './database.ts'

/** What is left of erased blocks: their hashes. Asked before every put and fetch, so that no retry or fall-back brings one back. */
export type Tombstones = {
  /** A source that says `erased` of what has been erased here. */
  guardSource(source: BlockSource): BlockSource
  /** A store that does not take what has been erased, and says `erased` of it. */
  guardStore(store: PayloadStore): PayloadStore
}

export function createTombstones({ sqlite }: Database): Tombstones {
  const select = sqlite.prepare('SELECT 1 FROM tombstone WHERE hash = ?')
  const buried = (hash: Uint8Array) => select.get(hash) !== undefined

  const guardSource = (source: BlockSource): BlockSource => ({
    get: async (hash, options) => (buried(hash) ? { status: 'erased' } : source.get(hash, options)),
  })

  return {
    guardSource,
    guardStore: (store) => ({
      ...store,
      ...guardSource(store),
      async put(hash, bytes) {
        if (buried(hash)) return false
        const inserted = await store.put(hash, bytes)
        if (!buried(hash)) return inserted
        // Erased while it was being put.
        await store.remove(hash)
        return false
      },
    }),
  }
}
