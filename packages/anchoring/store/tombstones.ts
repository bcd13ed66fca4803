import type { PayloadStore } from '#promise/ports.ts'
import type { BlockRead, BlockSource } from '#verifier/ports.ts'

/**
 * Whether a block was erased, by its sha-256. Rejects while that is unknown, except for a block
 * that a store may still have, because the unfinished erasures are known.
 */
export type IsBlockErased = (hash: Uint8Array) => Promise<boolean>

export type Tombstones = ReturnType<typeof createTombstones>

/**
 * The hashes of erased blocks. They are checked before every put and fetch, so that no retry or
 * fallback brings a block back.
 */
export function createTombstones(isErased: IsBlockErased) {
  return {
    isErased,
    /** A source that returns `erased` for blocks that have been erased here. */
    guardSource: (source: BlockSource): BlockSource => ({
      get: async (hash, options) =>
        (await isErased(hash)) ? { status: 'erased' } : source.get(hash, options),
    }),
    /**
     * A store that refuses erased blocks and returns `erased` for them. A finished erasure leaves
     * nothing in the store, so it is read even while it is unknown whether a block was erased.
     *
     * @param erase Deletes a block that was erased while it was being put.
     */
    guardStore: (
      store: PayloadStore,
      erase: (hash: Uint8Array) => Promise<unknown>,
    ): PayloadStore => ({
      ...store,
      get: (hash) =>
        readAfter(
          async () => ((await isErased(hash)) ? { status: 'erased' } : MISSING),
          () => store.get(hash),
        ),
      async missing(hashes) {
        const erased = await Promise.all(hashes.map(isErased))
        return store.missing(hashes.filter((_, i) => !erased[i]))
      },
      async put(hash, bytes) {
        if (await isErased(hash)) return
        await store.put(hash, bytes)
        // The block was erased while it was being put.
        if (await isErased(hash)) await erase(hash)
      },
    }),
  }
}

/**
 * A store that replaces another.
 *
 * @param older Only read, and asked first because it is near. It has documents that were issued
 * before the change, so nothing is put into it or removed from it.
 */
export function withOlder(store: PayloadStore, older: PayloadStore): PayloadStore {
  return {
    ...store,
    get: (hash) =>
      readAfter(
        () => older.get(hash),
        () => store.get(hash),
      ),
    missing: async (hashes) => store.missing(await older.missing(hashes)),
  }
}

const MISSING: BlockRead = { status: 'missing' }

/** While the first one cannot be read, the other one may still have the block. */
async function readAfter(
  first: () => Promise<BlockRead>,
  other: () => Promise<BlockRead>,
): Promise<BlockRead> {
  const [near] = await Promise.allSettled([first()])
  if (near.status === 'fulfilled' && near.value.status !== 'missing') return near.value
  const read = await other()
  if (near.status === 'rejected' && read.status === 'missing') throw near.reason
  return read
}
