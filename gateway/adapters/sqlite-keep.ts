import { fromHex } from '../../document/hex.ts'
import { type Keep, restore } from '../issue/keep.ts'
import type { Database } from './database.ts'
import type { SqliteOutbox } from './sqlite-outbox.ts'
import type { SqliteStore } from './sqlite-store.ts'

/**
 * Payloads and promises in one database: each change of both is one transaction. The outbox needs no
 * copy of the sealed bytes: it could only be lost together with the first.
 */
export function createSqliteKeep(
  { write }: Database,
  store: SqliteStore,
  outbox: SqliteOutbox,
): Keep {
  return {
    add: (intent, { documentHash, bytes }, promised = false) =>
      write(() => {
        const inserted = store.insert(documentHash, bytes)
        const added = outbox.insert(intent, promised, { inserted })
        // A withdrawal takes the payload with it: one that is there belongs to a promise that was kept.
        return added && inserted
      }),
    withdraw: (intents) =>
      write(() => {
        const withdrawn = outbox.delete(intents)
        for (const hash of withdrawn.inserted) store.delete(fromHex(hash))
        return withdrawn.intents
      }),
    restore: (sealed) => restore(store, outbox, sealed),
    adopt: (intent, anchoring) => outbox.adopt(intent, anchoring),
  }
}
