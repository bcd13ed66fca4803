import type { PayloadStore } from '#promise/ports.ts'

/**
 * A store that replaces another.
 *
 * @param older Only read, and asked first because it is near. It has documents that were issued
 * before the change, so nothing is put into it or removed from it. While it cannot be read, the
 * other store may still have the block.
 */
export function withOlder(store: PayloadStore, older: PayloadStore): PayloadStore {
  return {
    ...store,
    async get(hash) {
      const [near] = await Promise.allSettled([older.get(hash)])
      if (near.status === 'fulfilled' && near.value.status !== 'missing') return near.value
      const read = await store.get(hash)
      if (near.status === 'rejected' && read.status === 'missing') throw near.reason
      return read
    },
    missing: async (hashes) => store.missing(await older.missing(hashes)),
  }
}
