import type { Hex } from '#document/hex.ts'
import type { Backlog, OutboxPorts, PromisedPayloads } from '#promise/ports.ts'
import type { Database } from '../drivers/sqlite/database.ts'
import { MAX_PAYLOADS } from '../rules.ts'
import { createAnchorings } from './outbox/anchorings.ts'
import { createAnchorBlocks, createBlockWriter } from './outbox/blocks.ts'
import { createAddFee, createFeeLog } from './outbox/fees.ts'
import { createOpposites } from './outbox/opposites.ts'
import { createAnchorEach, createWriteOutcome, type WriteOutcome } from './outbox/outcomes.ts'
import { createPlans } from './outbox/plans.ts'
import { createRequests, type Requests } from './outbox/requests.ts'
import { INTENT_COLUMNS, intentOf, type Row } from './outbox/rows.ts'

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

function createBacklog({ sqlite, write }: Database, writeOutcome: WriteOutcome): Backlog {
  const select = sqlite.prepare(`
    SELECT ${INTENT_COLUMNS}, aside_until FROM intent
    WHERE plan IS NULL AND block_number IS NULL ORDER BY id`)
  const setAside = sqlite.prepare(
    'UPDATE intent SET aside_until = ? WHERE document_hash = ? AND kind = ?',
  )

  return {
    queued: async () =>
      (select.all() as Row[]).map((row) => ({
        intent: intentOf(row),
        asideUntil: row.aside_until as number | null,
      })),
    setAside: (intents, until) =>
      write(() => {
        for (const { documentHash, kind } of intents) setAside.run(until, documentHash, kind)
      }),
    resolve: (resolution) => write(() => writeOutcome(resolution)),
  }
}

function createPromisedPayloads({ sqlite, write }: Database): PromisedPayloads {
  const select = sqlite.prepare(`
    SELECT id, document_hash, sealed FROM intent
    WHERE sealed IS NOT NULL AND id > ? AND id <= ? ORDER BY id LIMIT ${MAX_PAYLOADS}`)
  const selectNewest = sqlite.prepare('SELECT max(id) AS id FROM intent')
  const disown = sqlite.prepare(
    "UPDATE intent SET inserted = 0 WHERE document_hash = ? AND kind = 'issue'",
  )

  return {
    async *payloads() {
      // Later intents have only just put their payloads in the store.
      const newest = Number(selectNewest.get()?.id ?? 0)
      for (let last: number | undefined = 0; last !== undefined; ) {
        const rows: Record<string, unknown>[] = select.all(last, newest)
        if (rows.length > 0)
          yield rows.map((row) => ({
            documentHash: row.document_hash as Hex,
            sealed: row.sealed as Uint8Array,
          }))
        last = rows.at(-1)?.id as number | undefined
      }
    },
    disown: (documentHash) =>
      write(() => {
        disown.run(documentHash)
      }),
  }
}
