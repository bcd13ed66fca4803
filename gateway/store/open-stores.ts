import type { RateLimiter } from '#base/rate-limit.ts'
import type { KeyStore } from '#keys/ports.ts'
import type { PeopleStore } from '#people/ports.ts'
import type { Leases } from '#promise/lease.ts'
import { createActLog } from './acts.ts'
import { createBackups } from './backups.ts'
import { createBatchDrafts } from './batch-drafts.ts'
import { createBatchLog } from './batches.ts'
import { bind, type Refusals } from './binding.ts'
import { createCredentialStore, createStatusSlots } from './credentials.ts'
import { type Database, fenced, type LeasedAccount } from './database.ts'
import { createDeliveries } from './deliveries.ts'
import { createDocumentIndex } from './documents.ts'
import { createErasures, type Scrubber } from './erasures.ts'
import { createEventLog } from './events.ts'
import { createHistory } from './history.ts'
import { createIdempotencyLog } from './idempotency.ts'
import { createKindStore } from './kinds.ts'
import { RELEASED_CHANNEL } from './leases.ts'
import { createBusyAccounts, createSharedBacklog } from './outbox/backlog.ts'
import { createFresh, type Fresh } from './outbox/requests.ts'
import { createOutbox, createPersistence } from './outbox.ts'
import { OUTBOX_CHANNEL } from './outcomes.ts'
import { createPayloadStore } from './payloads.ts'
import { createRunStore } from './runs.ts'
import type { DatabaseDeps, DatabaseStores, SharedDatabase } from './stores.ts'
import { createSuccessions } from './successions.ts'
import { createTallies } from './tallies.ts'
import type { IsBlockErased } from './tombstones.ts'
import { createWebhooks } from './webhooks.ts'

/** The parts that only one kind of database has, and that its repositories need. */
export type DatabaseParts = Pick<DatabaseStores, 'assertReady' | 'copyTo' | 'close'> & {
  keys: KeyStore
  people: PeopleStore
  leases: Leases
  refusals: Refusals
  scrubber: Scrubber
  /** Opened after the erasures of the list have been merged. */
  openErased(): Promise<IsBlockErased>
  /** Absent when only one gateway can use the database. */
  rateLimiter?: (kind: string, local: RateLimiter) => RateLimiter
}

/**
 * Opens the ports of a database, and closes it when that fails.
 *
 * @throws One of the refusals, for the database of another owner, or one that is not filled yet.
 */
export async function openStores(
  database: Database,
  parts: DatabaseParts,
  { binding, erasureList, blindTenant, log }: DatabaseDeps,
): Promise<DatabaseStores> {
  const { keys, people, leases, refusals, scrubber, openErased, rateLimiter, ...rest } = parts
  try {
    await bind(database, binding, { refusals })
    const { owner, assignTo } = createOwner()
    const fresh = createFresh()
    const outbox = createOutbox(database, { owner, fresh })
    const embedded = createPayloadStore(database)
    const erasures = createErasures(database, scrubber, erasureList)
    const merged = await erasures.mergeList()
    if (merged > 0) log.warn('erasures_merged', { documents: merged })
    const isSole = rateLimiter === undefined
    return {
      ...rest,
      outbox,
      embedded,
      erasures,
      keys,
      people,
      embeddedPersistence: createPersistence(database, embedded, outbox),
      isErased: await openErased(),
      idempotency: createIdempotencyLog(database),
      history: createHistory(database),
      acts: createActLog(database),
      tallies: createTallies(database),
      // PostgreSQL is backed up with its own tools.
      ...(isSole && { backups: createBackups(database) }),
      documentIndex: createDocumentIndex(database),
      successions: createSuccessions(database),
      statusSlots: createStatusSlots(database),
      events: createEventLog(database, blindTenant),
      webhooks: createWebhooks(database),
      kinds: createKindStore(database),
      runs: createRunStore(database),
      deliveries: createDeliveries(database, blindTenant),
      credentials: createCredentialStore(database),
      batchLog: createBatchLog(database, owner),
      batchDrafts: (groups) => createBatchDrafts(database, { leases, isSole }, groups),
      shared: {
        ...createShared(database, leases, fresh),
        // There is no other gateway that could change anything.
        ...(isSole && { listen: () => () => {} }),
        isSole,
        assignTo,
        rateLimiter: rateLimiter ?? ((_, local) => local),
      },
    }
  } catch (error) {
    await rest.close()
    throw error
  }
}

/** Coordinates gateways on one database by means of leases. */
export function createShared(
  database: Database,
  leases: Leases,
  fresh: Fresh,
): Omit<SharedDatabase, 'isSole' | 'assignTo' | 'rateLimiter'> {
  return {
    leases,
    ...createBusyAccounts(database),
    outboxOf({ account, lease }) {
      const own = fenced(database, lease)
      return { ...createOutbox(own, { account, fresh }), ...createSharedBacklog(own, account) }
    },
    embeddedPersistenceOf({ account, lease }) {
      const own = fenced(database, lease)
      return createPersistence(own, createPayloadStore(own), createOutbox(own, { account, fresh }))
    },
    listen(changed) {
      const ends = [OUTBOX_CHANNEL, RELEASED_CHANNEL].map((channel) =>
        database.listen(channel, changed),
      )
      return () => {
        for (const end of ends) end()
      }
    },
  }
}

/** The account for new intents. The outbox is created before it is known. */
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
