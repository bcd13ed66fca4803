import type { OutboxPorts } from '../../issue/ports.ts'
import type { Postgres } from './database.ts'
import { createAnchorings } from './outbox/anchorings.ts'
import { createBacklog } from './outbox/backlog.ts'
import { createAnchorBlocks } from './outbox/blocks.ts'
import { createFeeLog } from './outbox/fees.ts'
import { createPromisedPayloads } from './outbox/payloads.ts'
import { createPlans } from './outbox/plans.ts'
import { createRequests, type Requests } from './outbox/requests.ts'

export type PostgresOutbox = Requests & OutboxPorts

/**
 * The outbox in PostgreSQL: one part for each port. The ports say what each method guarantees.
 * Triggers in the schema write history, index and events with each outcome.
 */
export function createPostgresOutbox(database: Postgres): PostgresOutbox {
  return {
    ...createRequests(database),
    ...createAnchorBlocks(database),
    ...createBacklog(database),
    ...createPlans(database),
    ...createFeeLog(database),
    ...createAnchorings(database),
    ...createPromisedPayloads(database),
  }
}
