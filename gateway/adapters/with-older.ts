import type { PayloadStore } from '../issue/ports.ts'

/**
 * A store that has taken the place of another.
 *
 * @param older Still read, and asked first, since it is near; nothing is put into it any more.
 */
export function withOlder(
  store: PayloadStore,
  older: PayloadStore,
): PayloadStore {
  return {
    put: store.put,
    async get(hash) {
      const read = await older.get(hash)
      return read.status === 'missing' ? store.get(hash) : read
    },
    async remove(hash) {
      await Promise.all([store.remove(hash), older.remove(hash)])
    },
  }
}
