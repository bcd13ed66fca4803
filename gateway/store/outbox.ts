import type { Hex } from '#document/hex.ts'
import type { OutboxPorts } from '#promise/ports.ts'
import type { Database } from './database.ts'
import { createAnchorings } from './outbox/anchorings.ts'
import { createBacklog, createPromisedPayloads } from './outbox/backlog.ts'
import { createAnchorBlocks } from './outbox/blocks.ts'
import { createFeeLog } from './outbox/fees.ts'
import { createFresh, type Fresh } from './outbox/fresh.ts'
import { createPlans } from './outbox/plans.ts'
import { createRequests, type Owner, type Requests } from './outbox/requests.ts'

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
