import type { BlockSource } from '../../verifier/ports.ts'
import type { PayloadStore } from '../issue/ports.ts'
import type { Database } from './sqlite/database.ts'

/**
 * The hashes of erased blocks. Checked before every put and fetch, so that no retry or fallback
 * brings a block back.
 */
export type Tombstones = {
  isErased(hash: Uint8Array): boolean
  /** A source that returns `erased` for blocks that have been erased here. */
  guardSource(source: BlockSource): BlockSource
  /**
   * A store that refuses erased blocks, and returns `erased` for them.
   *
   * @param erase Deletes a block that was erased while it was being put; `remove` if absent.
   */
  guardStore(store: PayloadStore, erase?: (hash: Uint8Array) => Promise<unknown>): PayloadStore
}

export function createTombstones({ sqlite }: Database): Tombstones {
  const select = sqlite.prepare('SELECT 1 FROM tombstone WHERE hash = ?')
  const isErased = (hash: Uint8Array) => select.get(hash) !== undefined

  const guardSource = (source: BlockSource): BlockSource => ({
    get: async (hash, options) =>
      isErased(hash) ? { status: 'erased' } : source.get(hash, options),
  })

  return {
    isErased,
    guardSource,
    guardStore: (store, erase = store.remove) => ({
      ...store,
      ...guardSource(store),
      missing: (hashes) => store.missing(hashes.filter((hash) => !isErased(hash))),
      async put(hash, bytes) {
        if (isErased(hash)) return false
        const inserted = await store.put(hash, bytes)
        if (!isErased(hash)) return inserted
        // Erased while it was being put.
        await erase(hash)
        return false
      },
    }),
  }
}
