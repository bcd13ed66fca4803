import type { Hex } from '#document/hex.ts'
import type { OutboxPorts } from '#promise/ports.ts'
import type { LeasedAccount } from '../stores.ts'
import type { Postgres } from './database.ts'
import { createAnchorings } from './outbox/anchorings.ts'
import { createBacklog } from './outbox/backlog.ts'
import { createAnchorBlocks } from './outbox/blocks.ts'
import { createFeeLog } from './outbox/fees.ts'
import { createPromisedPayloads } from './outbox/payloads.ts'
import { createPlans } from './outbox/plans.ts'
import { createRequests, type Requests } from './outbox/requests.ts'

export type PostgresOutbox = Requests & OutboxPorts

/** What ties an outbox to accounts. */
export type OutboxOptions = {
  /** Whose intents and plans it has; absent = all. */
  account?: Hex
  /** The account that new intents get, while its lease lasts. */
  owner?: () => LeasedAccount | undefined
}

/**
 * The outbox in PostgreSQL: one part for each port. The ports say what each method guarantees.
 * Triggers in the schema write history, index and events with each outcome.
 */
export function createPostgresOutbox(
  database: Postgres,
  { account, owner }: OutboxOptions = {},
): PostgresOutbox {
  return {
    ...createRequests(database, owner),
    ...createAnchorBlocks(database),
    ...createBacklog(database, account),
    ...createPlans(database, account),
    ...createFeeLog(database, account),
    ...createAnchorings(database),
    ...createPromisedPayloads(database),
  }
}
