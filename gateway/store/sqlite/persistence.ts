import { fromHex } from '#document/hex.ts'
import { type Persistence, restore } from '#promise/persistence.ts'
import type { Database } from '../drivers/sqlite/database.ts'
import type { SqliteOutbox } from './outbox.ts'
import type { SqliteStore } from './store.ts'

/**
 * Persists payloads and promises in one database and changes both in one transaction. The outbox
 * holds no copy of the sealed bytes: a copy in the same file could only be lost together with them.
 */
export function createSqlitePersistence(
  { write }: Database,
  store: SqliteStore,
  outbox: SqliteOutbox,
): Persistence {
  return {
    add: (intent, { documentHash, bytes, entry, isNew = false }, promised = false) =>
      write(() => {
        const inserted = store[isNew ? 'insertNew' : 'insert'](documentHash, bytes)
        const added = outbox.insert(intent, promised, { inserted, entry, isNew })
        if (added === 'has_successor') {
          if (inserted) store.delete(documentHash)
          return added
        }
        // A withdrawal deletes the payload it inserted. A payload from before belongs to a promise
        // that was kept.
        return added && inserted
      }),
    withdraw: (intents) =>
      write(() => {
        const withdrawn = outbox.delete(intents)
        for (const hash of withdrawn.inserted) store.delete(fromHex(hash))
        return withdrawn.intents
      }),
    restore: (sealed) => restore(store, outbox, sealed),
    adopt: (intent, anchoring, { entry }) => outbox.adopt(intent, anchoring, { entry }),
  }
}
