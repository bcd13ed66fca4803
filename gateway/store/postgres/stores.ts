import { openPostgres } from '../drivers/postgres/database.ts'
import { openKnownErasures } from '../drivers/postgres/known-erasures.ts'
import type { DatabaseDeps, DatabaseStores } from '../stores.ts'
import { createPostgresBatchDrafts } from './batch-drafts.ts'
import { createPostgresBatchLog } from './batch-log.ts'
import { bind } from './binding.ts'
import { createPostgresDeliveries } from './deliveries.ts'
import { createPostgresDocumentIndex } from './document-index.ts'
import { createPostgresErasures } from './erasures.ts'
import { createPostgresEventLog } from './events.ts'
import { createPostgresHistory } from './history.ts'
import { createPostgresIdempotencyLog } from './idempotency.ts'
import { createPostgresKeyStore } from './keys.ts'
import { createPostgresOutbox } from './outbox.ts'
import { createPostgresPersistence } from './persistence.ts'
import { createOwner, createPostgresShared } from './shared.ts'
import { createPostgresStore } from './store.ts'
import { createPostgresSuccessions } from './successions.ts'
import { createPostgresWebhooks } from './webhooks.ts'

/**
 * Opens a PostgreSQL database, which other gateways may use at the same time.
 *
 * @throws {DatabaseUrlError} when it cannot be used, or belongs to another registry, issuer or
 * secret.
 * @throws {IssueError} `store_unavailable`.
 */
export async function openPostgresStores(
  url: string,
  { binding, erasureList, blindTenant, leaseTerm, log }: DatabaseDeps,
): Promise<DatabaseStores> {
  const database = await openPostgres(url, log)
  try {
    await bind(database, binding)
    const { owner, assignTo } = createOwner()
    const outbox = createPostgresOutbox(database, { owner })
    const embedded = createPostgresStore(database)
    const erasures = createPostgresErasures(database, erasureList)
    const merged = await erasures.mergeList()
    if (merged > 0) log.warn('erasures_merged', { documents: merged })
    const known = await openKnownErasures(database, log)
    const shared = createPostgresShared(database, log, leaseTerm)
    return {
      outbox,
      embedded,
      erasures,
      embeddedPersistence: createPostgresPersistence(database, embedded, outbox),
      isErased: known.isErased,
      idempotency: createPostgresIdempotencyLog(database),
      history: createPostgresHistory(database),
      documentIndex: createPostgresDocumentIndex(database),
      successions: createPostgresSuccessions(database),
      events: createPostgresEventLog(database, blindTenant),
      webhooks: createPostgresWebhooks(database),
      deliveries: createPostgresDeliveries(database, blindTenant),
      batchLog: createPostgresBatchLog(database),
      batchDrafts: (groups) => createPostgresBatchDrafts(database, shared.leases, groups),
      keys: createPostgresKeyStore(database),
      shared: { ...shared, assignTo },
      assertReady: database.assertReady,
      async copyTo() {
        throw new Error('back up PostgreSQL with pg_dump')
      },
      async close() {
        await known.close()
        await database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}
