import type { PayloadStore } from '../issue/ports.ts'

/**
 * A store that has taken the place of another.
 *
 * @param older Only read, and asked first, since it is near. It holds documents issued before the
 *   change, so nothing is put into it or removed from it any more.
 */
export function withOlder(store: PayloadStore, older: PayloadStore): PayloadStore {
  return {
    ...store,
    async get(hash) {
      const read = await older.get(hash)
      return read.status === 'missing' ? store.get(hash) : read
    },
    missing: async (hashes) => store.missing(await older.missing(hashes)),
  }
}
