import { fromHex } from '#document/hex.ts'
import { type Persistence, restore } from '#promise/persistence.ts'
import type { PayloadStore } from '#promise/ports.ts'
import type { Postgres } from '../drivers/postgres/database.ts'
import { deleteUnpromised } from './outbox/requests.ts'
import type { PostgresOutbox } from './outbox.ts'

/** Persists payloads and promises in PostgreSQL, both in one transaction. */
export function createPostgresPersistence(
  { transaction }: Postgres,
  store: PayloadStore,
  outbox: PostgresOutbox,
): Persistence {
  return {
    async add(intent, { bytes, entry }, promised = false) {
      if (intent.kind !== 'issue') return outbox.add(intent, promised)
      const added = await outbox.addIssue({ intent, promised, bytes, entry })
      // A payload from before belongs to a promise that was kept.
      return added === 'has_successor' ? added : added.isNew && added.stored
    },
    withdraw: (intents) =>
      transaction(async (query) => {
        // Before the intents, as those who add one: see `insertIssues`.
        await query('SELECT 1 FROM block WHERE hash = ANY($1) ORDER BY hash FOR UPDATE', [
          intents.map(({ documentHash }) => fromHex(documentHash)),
        ])
        const withdrawn = await deleteUnpromised(query, intents)
        await query('DELETE FROM block WHERE hash = ANY($1)', [withdrawn.inserted.map(fromHex)])
        return withdrawn.intents
      }),
    restore: (sealed) => restore(store, outbox, sealed),
    adopt: (intent, anchoring, { entry }) => outbox.adopt(intent, anchoring, { entry }),
  }
}
