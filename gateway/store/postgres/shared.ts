import type { Log } from '#base/log.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import type { Intent } from '#promise/intent.ts'
import type { BusyAccounts, SharedBacklog } from '#promise/ports.ts'
import { hexOf } from '../columns.ts'
import type { Postgres } from '../drivers/postgres/database.ts'
import { createPostgresRateLimiter } from '../drivers/postgres/rate-limiter.ts'
import type { LeasedAccount, SharedDatabase } from '../stores.ts'
import { fenced } from './fence.ts'
import { createPostgresLeases, RELEASED_CHANNEL } from './leases.ts'
import { INTENT_COLUMNS, intentOf } from './outbox/rows.ts'
import { createPostgresOutbox } from './outbox.ts'
import { createPostgresPersistence } from './persistence.ts'
import { createPostgresStore } from './store.ts'

/** Triggers in the schema notify it. */
const OUTBOX_CHANNEL = 'docreg_outbox'

/** A condition of the table `intent`. */
const IS_UNCLAIMED =
  'intent.account IS NULL AND intent.plan IS NULL AND intent.block_number IS NULL'

/**
 * What gateways on one PostgreSQL database need of each other.
 *
 * @param leaseTerm Milliseconds.
 */
export function createPostgresShared(
  database: Postgres,
  log: Log,
  leaseTerm: number,
): Omit<SharedDatabase, 'assignTo'> {
  const outboxOf: SharedDatabase['outboxOf'] = ({ account, lease }) => {
    const own = fenced(database, lease)
    return { ...createPostgresOutbox(own, { account }), ...createSharedBacklog(own, account) }
  }

  return {
    leases: createPostgresLeases(database, log, leaseTerm),
    ...createBusyAccounts(database),
    outboxOf,
    embeddedPersistenceOf({ account, lease }) {
      const own = fenced(database, lease)
      return createPostgresPersistence(
        own,
        createPostgresStore(own),
        createPostgresOutbox(own, { account }),
      )
    },
    listen(changed) {
      const ends = [OUTBOX_CHANNEL, RELEASED_CHANNEL].map((channel) =>
        database.listen(channel, changed),
      )
      return () => {
        for (const end of ends) end()
      }
    },
    rateLimiter: (kind, local) => createPostgresRateLimiter(database, local, kind),
  }
}

/** The account that new intents get; the outbox is made before it is known. */
export function createOwner(): {
  owner: () => LeasedAccount | undefined
  assignTo: SharedDatabase['assignTo']
} {
  let current: () => LeasedAccount | undefined = () => undefined
  return {
    owner: () => current(),
    assignTo(own) {
      current = own
    },
  }
}

/** @param database Fenced by the lease of the account. */
function createSharedBacklog({ query, transaction }: Postgres, account: Hex): SharedBacklog {
  const own = fromHex(account)

  /** @param which A condition of the table `intent`; `$1` is the account. */
  async function claim(which: string, limit: number): Promise<Intent[]> {
    const waiting = await query(`SELECT 1 FROM intent WHERE ${IS_UNCLAIMED} LIMIT 1`)
    if (waiting.length === 0) return []
    const rows = await query(
      `UPDATE intent SET account = $1 WHERE id IN (
         SELECT id FROM intent WHERE ${IS_UNCLAIMED} AND ${which}
         ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
       RETURNING intent.id, ${INTENT_COLUMNS}`,
      [own, limit],
    )
    return rows.sort((a, b) => Number(a.id) - Number(b.id)).map(intentOf)
  }

  return {
    claim: (limit) => claim('NOT waits_for_issue(kind, document_hash, root, $1)', limit),
    claimRevisions: (limit) =>
      claim(
        `kind <> 'issue' AND EXISTS (
           SELECT 1 FROM intent AS issue WHERE issue.kind = 'issue' AND issue.account = $1
           AND issue.document_hash = coalesce(intent.root, intent.document_hash))`,
        limit,
      ),
    disclaim: () =>
      transaction(async (within) => {
        await within(
          `UPDATE intent SET account = NULL
           WHERE account = $1 AND plan IS NULL AND block_number IS NULL
             AND (transaction_hash IS NULL OR kind IN ('issue', 'revoke'))`,
          [own],
        )
        await within(`SELECT pg_notify('${OUTBOX_CHANNEL}', '')`)
      }),
  }
}

function createBusyAccounts({ query }: Postgres): BusyAccounts {
  return {
    async busyAccounts() {
      const rows = await query(`
        SELECT account FROM plan WHERE account IS NOT NULL
        UNION
        SELECT account FROM intent
        WHERE account IS NOT NULL AND plan IS NULL AND block_number IS NULL
        UNION
        SELECT issue.account FROM intent
          JOIN intent AS issue ON issue.document_hash = coalesce(intent.root, intent.document_hash)
        WHERE ${IS_UNCLAIMED} AND intent.kind <> 'issue' AND issue.kind = 'issue'
          AND issue.account IS NOT NULL`)
      return rows.map(({ account }) => hexOf(account))
    },
    async countUnclaimed(limit) {
      const [row] = await query(
        `SELECT count(*) AS count FROM (
           SELECT 1 FROM intent WHERE ${IS_UNCLAIMED} LIMIT $1) AS unclaimed`,
        [limit],
      )
      return Number(row?.count)
    },
  }
}
