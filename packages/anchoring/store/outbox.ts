import { type Persistence, restore } from '#promise/persistence.ts'
import type {
  Anchorings,
  Backlog,
  FeeLog,
  OutboxPorts,
  PayloadStore,
  Plans,
} from '#promise/ports.ts'
import type { Database } from './database.ts'
import { createAnchorings } from './outbox/anchorings.ts'
import { createBacklog, createPromisedPayloads } from './outbox/backlog.ts'
import { createFeeLog, createPlans } from './outbox/plans.ts'
import { createRequests, type Requests } from './outbox/requests.ts'
import { createAnchorBlocks } from './outbox/settle.ts'

export type DatabaseOutbox = Requests & OutboxPorts

/** What the gateway that leads reads and writes through its session. */
export type LeaderOutbox = Backlog & Plans & FeeLog & Anchorings

/** The outbox for requests and for the watch of finality; see the ports. */
export function createOutbox(database: Database): DatabaseOutbox {
  return {
    ...createRequests(database),
    ...createAnchorBlocks(database),
    ...createAnchorings(database),
    ...createPromisedPayloads(database),
  }
}

/** @param database The database through the session of the gateway that leads. */
export function createLeaderOutbox(database: Database): LeaderOutbox {
  return {
    ...createBacklog(database),
    ...createPlans(database),
    ...createFeeLog(database),
    ...createAnchorings(database),
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
