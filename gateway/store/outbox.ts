import type { Hex } from '#document/hex.ts'
import { type Persistence, restore } from '#promise/persistence.ts'
import type { OutboxPorts, PayloadStore } from '#promise/ports.ts'
import type { Database } from './database.ts'
import { createAnchorings } from './outbox/anchorings.ts'
import { createBacklog, createPromisedPayloads } from './outbox/backlog.ts'
import { createFeeLog, createPlans } from './outbox/plans.ts'
import {
  createFresh,
  createRequests,
  type Fresh,
  type Owner,
  type Requests,
} from './outbox/requests.ts'
import { createAnchorBlocks } from './outbox/settle.ts'

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

/** Stores payloads and promises in one database, both in one transaction. */
export function createPersistence(store: PayloadStore, outbox: DatabaseOutbox): Persistence {
  return {
    async add(intent, { bytes, entry }) {
      const added = await outbox.addIssue({ intent, bytes, entry })
      // A payload from before belongs to a promise that was kept.
      return added === 'has_successor' ? added : added.isNew && added.stored
    },
    restore: (sealed) => restore(store, sealed),
    adopt: (intent, anchoring, { entry }) => outbox.adopt(intent, anchoring, { entry }),
  }
}
