import type { OutboxPorts } from '#promise/ports.ts'
import type { Database } from './database.ts'
import { createAnchorings } from './outbox/anchorings.ts'
import { createBacklog } from './outbox/backlog.ts'
import { createAnchorBlocks, createBlockWriter } from './outbox/blocks.ts'
import { createAddFee, createFeeLog } from './outbox/fees.ts'
import { createOpposites } from './outbox/opposites.ts'
import { createAnchorEach, createWriteOutcome } from './outbox/outcomes.ts'
import { createPromisedPayloads } from './outbox/payloads.ts'
import { createPlans } from './outbox/plans.ts'
import { createRequests, type Requests } from './outbox/requests.ts'

export type SqliteOutbox = Requests & OutboxPorts

/**
 * The outbox in the gateway's database: one part for each port, and writers that several parts
 * share. The ports say what each method guarantees.
 */
export function createSqliteOutbox(database: Database): SqliteOutbox {
  const blocks = createBlockWriter(database)
  const opposites = createOpposites(database, blocks)
  const anchorEach = createAnchorEach(database, blocks)
  const writeOutcome = createWriteOutcome(database, { blocks, opposites, anchorEach })
  return {
    ...createRequests(database, blocks, opposites),
    ...createAnchorBlocks(database),
    ...createBacklog(database, writeOutcome),
    ...createPlans(database, writeOutcome, createAddFee(database)),
    ...createFeeLog(database),
    ...createAnchorings(database, { blocks, opposites, anchorEach }),
    ...createPromisedPayloads(database),
  }
}
