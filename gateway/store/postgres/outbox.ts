import { fromHex, type Hex } from '#document/hex.ts'
import type { Backlog, OutboxPorts, PromisedPayloads } from '#promise/ports.ts'
import { bytesOf, hexOf } from '../columns.ts'
import type { Postgres } from '../drivers/postgres/database.ts'
import { MAX_PAYLOADS } from '../rules.ts'
import type { LeasedAccount } from '../stores.ts'
import { createAnchorings } from './outbox/anchorings.ts'
import { createAnchorBlocks } from './outbox/blocks.ts'
import { createFeeLog } from './outbox/fees.ts'
import { lockOutcomes, writeOutcome } from './outbox/outcomes.ts'
import { createPlans } from './outbox/plans.ts'
import { createRequests, type Requests } from './outbox/requests.ts'
import { INTENT_COLUMNS, IS_KEY, intentOf, KEYS, keysOf } from './outbox/rows.ts'

export type PostgresOutbox = Requests & OutboxPorts

/** The accounts of an outbox. */
type OutboxOptions = {
  /** The account whose intents and plans it has; absent = all. */
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

/** @param account Whose intents; absent = all. */
function createBacklog({ query, transaction }: Postgres, account?: Hex): Backlog {
  return {
    async queued() {
      const rows = await query(
        `SELECT ${INTENT_COLUMNS}, aside_until FROM intent
        WHERE plan IS NULL AND block_number IS NULL AND ($1::bytea IS NULL OR
          account = $1 AND NOT waits_for_issue(kind, document_hash, root, account))
        ORDER BY id`,
        [bytesOf(account)],
      )
      return rows.map((row) => ({
        intent: intentOf(row),
        asideUntil: row.aside_until as number | null,
      }))
    },
    async setAside(intents, until) {
      await query(`UPDATE intent SET aside_until = $3 FROM ${KEYS} WHERE ${IS_KEY}`, [
        ...keysOf(intents),
        until,
      ])
    },
    resolve: (resolution) =>
      transaction(async (within) => {
        await lockOutcomes(within)
        await writeOutcome(within, resolution)
      }),
  }
}

function createPromisedPayloads({ query }: Postgres): PromisedPayloads {
  return {
    async *payloads() {
      // Later intents have only just put their payloads in the store.
      const [newest] = await query('SELECT coalesce(max(id), 0) AS id FROM intent')
      for (let last: number | undefined = 0; last !== undefined; ) {
        const rows: { id: number; document_hash: Uint8Array; sealed: Uint8Array }[] = await query(
          `SELECT id, document_hash, sealed FROM intent
           WHERE sealed IS NOT NULL AND id > $1 AND id <= $2 ORDER BY id LIMIT ${MAX_PAYLOADS}`,
          [last, newest?.id],
        )
        if (rows.length > 0)
          yield rows.map((row) => ({
            documentHash: hexOf(row.document_hash),
            sealed: row.sealed,
          }))
        last = rows.at(-1)?.id
      }
    },
    async disown(documentHash) {
      await query(
        "UPDATE intent SET inserted = false WHERE document_hash = $1 AND kind = 'issue'",
        [fromHex(documentHash)],
      )
    },
  }
}
