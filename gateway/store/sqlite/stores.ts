import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DataDirError } from '../drivers/sqlite/data-dir-error.ts'
import { openDatabase } from '../drivers/sqlite/database.ts'
import type { DatabaseDeps, DatabaseStores } from '../stores.ts'
import { createSqliteBatchDrafts } from './batch-drafts.ts'
import { createSqliteBatchLog } from './batch-log.ts'
import { createSqliteDeliveries } from './deliveries.ts'
import { createSqliteDocumentIndex } from './document-index.ts'
import { createSqliteErasures, createSqliteIsErased } from './erasures.ts'
import { createSqliteEventLog } from './events.ts'
import { createSqliteHistory } from './history.ts'
import { createSqliteIdempotencyLog } from './idempotency.ts'
import { KEYS_FILE, openKeyStore } from './key-store.ts'
import { createSqliteOutbox } from './outbox.ts'
import { createSqlitePersistence } from './persistence.ts'
import { createSqliteStore } from './store.ts'
import { createSqliteSuccessions } from './successions.ts'
import { createSqliteWebhooks } from './webhooks.ts'

/** The gateway's database in the data folder. */
export const DATABASE_FILE = 'gateway.db'

/** A file in a data folder whose database a command has not filled yet. */
export const unfinishedFile = (dataDir: string) => join(dataDir, `${DATABASE_FILE}-unfinished`)

/** @throws {DataDirError} `unfinished` when a command has not filled the database yet. */
export function assertFilled(dataDir: string): void {
  if (existsSync(unfinishedFile(dataDir)))
    throw new DataDirError(
      'unfinished',
      `${dataDir} has a database that docreg-gateway recover has not finished`,
      ': run that again',
    )
}

/**
 * Opens the SQLite files in a data folder.
 *
 * @throws {DataDirError} when it belongs to another registry, issuer or secret, or to another
 * version.
 */
export async function openSqliteStores(
  dataDir: string,
  { binding, erasureList, blindTenant, log, end }: DatabaseDeps,
): Promise<DatabaseStores> {
  assertFilled(dataDir)
  const database = openDatabase(join(dataDir, DATABASE_FILE), (error) => {
    log.error('flush_failed', { error: error.message })
    end(error)
  })
  try {
    database.bindTo(binding)
    const keys = openKeyStore(join(dataDir, KEYS_FILE))
    const outbox = createSqliteOutbox(database)
    const embedded = createSqliteStore(database)
    const erasures = createSqliteErasures(database, erasureList)
    const merged = await erasures.mergeList()
    if (merged > 0) log.warn('erasures_merged', { documents: merged })
    return {
      outbox,
      embedded,
      erasures,
      keys,
      embeddedPersistence: createSqlitePersistence(database, embedded, outbox),
      isErased: createSqliteIsErased(database),
      idempotency: createSqliteIdempotencyLog(database),
      history: createSqliteHistory(database),
      documentIndex: createSqliteDocumentIndex(database),
      successions: createSqliteSuccessions(database),
      events: createSqliteEventLog(database, blindTenant),
      webhooks: createSqliteWebhooks(database),
      deliveries: createSqliteDeliveries(database, blindTenant),
      batchLog: createSqliteBatchLog(database, outbox),
      batchDrafts: (groups) => createSqliteBatchDrafts(database, { store: embedded, groups }),
      assertReady: database.assertReady,
      copyTo: database.copyTo,
      async close() {
        keys.close()
        await database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}
