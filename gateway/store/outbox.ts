import { fromHex, type Hex } from '#document/hex.ts'
import type { Intent } from '#promise/intent.ts'
import { type Persistence, restore } from '#promise/persistence.ts'
import type { OutboxPorts, PayloadStore } from '#promise/ports.ts'
import type { Database } from './database.ts'
import { createAnchorings } from './outbox/anchorings.ts'
import { createBacklog, createPromisedPayloads } from './outbox/backlog.ts'
import { createFeeLog, createPlans } from './outbox/plans.ts'
import {
  createFresh,
  createRequests,
  deleteUnpromised,
  type Fresh,
  type Owner,
  type Requests,
} from './outbox/requests.ts'
import { createAnchorBlocks } from './outbox/settle.ts'
import { deletePayloads } from './payloads.ts'
import { all, statement, type Work } from './sql.ts'

export type DatabaseOutbox = Requests & OutboxPorts

/** The accounts of an outbox. */
type OutboxOptions = {
  /** The account whose intents and plans it has; absent = all accounts. */
  account?: Hex
  /** The account for new intents, while its lease lasts. */
  owner?: Owner
  /** Shared by all outboxes over a database. */
  fresh?: Fresh
}

/**
 * The outbox in a database, with one part for each port. The ports document what each method
 * guarantees.
 */
export function createOutbox(
  database: Database,
  { account, owner, fresh = createFresh() }: OutboxOptions = {},
): DatabaseOutbox {
  return {
    ...createRequests(database, fresh, owner),
    ...createAnchorBlocks(database),
    ...createBacklog(database, fresh, account),
    ...createPlans(database, account),
    ...createFeeLog(database, account),
    ...createAnchorings(database),
    ...createPromisedPayloads(database),
  }
}

const LOCK = statement(
  (sql) => `
    SELECT 1 FROM block WHERE ${sql.isIn('hash', 'hashes', 'bytes')}
    ORDER BY hash ${sql.forUpdate('block')}`,
)

/** Stores payloads and promises in one database, both in one transaction. */
export function createPersistence(
  database: Database,
  store: PayloadStore,
  outbox: DatabaseOutbox,
): Persistence {
  return {
    async add(intent, { bytes, entry }, promised = false) {
      if (intent.kind !== 'issue') return outbox.add(intent, promised)
      const added = await outbox.addIssue({ intent, promised, bytes, entry })
      // A payload from before belongs to a promise that was kept.
      return added === 'has_successor' ? added : added.isNew && added.stored
    },
    withdraw: (intents) => database.write(() => withdraw(intents)),
    restore: (sealed) => restore(store, outbox, sealed),
    adopt: (intent, anchoring, { entry }) => outbox.adopt(intent, anchoring, { entry }),
  }
}

function* withdraw(intents: readonly Intent[]): Work<Intent[]> {
  // The lock comes before the intents, as in transactions that add one.
  yield* all(LOCK, { hashes: intents.map(({ documentHash }) => fromHex(documentHash)) })
  const withdrawn = yield* deleteUnpromised(intents)
  yield* deletePayloads(withdrawn.inserted.map(fromHex))
  return withdrawn.intents
}
