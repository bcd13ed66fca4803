import { join } from 'node:path'
import { fromHex } from '../document/hex.ts'
import { type ErasureList, openErasureList } from './adapters/erasure-list.ts'
import { createKuboNode } from './adapters/kubo/node.ts'
import { createKuboStore, type KuboStore } from './adapters/kubo/store.ts'
import { hkdfWithNode } from './adapters/node-hkdf.ts'
import { createOpenedDocuments, type GatewayDocuments } from './adapters/opened-documents.ts'
import { createSqliteBatchDrafts, type DraftGroups } from './adapters/sqlite/batch-drafts.ts'
import { createSqliteBatchLog } from './adapters/sqlite/batch-log.ts'
import { type Database, openDatabase } from './adapters/sqlite/database.ts'
import { createSqliteDeliveries } from './adapters/sqlite/deliveries.ts'
import { createSqliteDocumentIndex } from './adapters/sqlite/document-index.ts'
import { createSqliteErasures } from './adapters/sqlite/erasures.ts'
import { createSqliteEventLog } from './adapters/sqlite/events.ts'
import { createSqliteHistory } from './adapters/sqlite/history.ts'
import { createSqliteOutbox, type SqliteOutbox } from './adapters/sqlite/outbox.ts'
import { createSqlitePersistence } from './adapters/sqlite/persistence.ts'
import { createSqliteStore } from './adapters/sqlite/store.ts'
import { createSqliteSuccessions } from './adapters/sqlite/successions.ts'
import { createTombstones, type Tombstones } from './adapters/tombstones.ts'
import { withOlder } from './adapters/with-older.ts'
import { blindIndexOf } from './blind-index.ts'
import type { Config } from './config.ts'
import type { DocumentIndex } from './document-index.ts'
import type { EventLog } from './events.ts'
import type { History } from './history.ts'
import type { BatchDrafts, BatchList, BatchLog } from './issue/batch-log.ts'
import type { Erasures, IsErased } from './issue/erase.ts'
import type { IssueError } from './issue/errors.ts'
import { type Persistence, persistInOrder } from './issue/persistence.ts'
import type { PayloadStore } from './issue/ports.ts'
import type { Log } from './log.ts'
import type { Identity } from './open-chain.ts'
import { fingerprintsOf, subkeysOf } from './secrets.ts'
import type { Successions } from './successions.ts'
import type { Deliveries } from './webhooks/deliveries.ts'

/** Everything that the gateway keeps. */
export type Stores = {
  database: Database
  /** Absent when payloads are kept in the database. */
  kubo: KuboStore | undefined
  tombstones: Tombstones
  /** All payloads, wherever they are kept. */
  store: PayloadStore
  outbox: SqliteOutbox
  history: History
  events: EventLog
  deliveries: Deliveries
  /** The batches that were requested. */
  batchLog: BatchLog & BatchList
  batchDrafts: BatchDrafts
  persistence: Persistence
  documentIndex: DocumentIndex
  successions: Successions
  erasures: Erasures
  isErased: IsErased
  /** Documents that were opened lately. */
  opened: GatewayDocuments
}

/**
 * @param end See `startGateway`.
 * @throws {IssueError} when the payload store cannot be used.
 * @throws {DataDirError} when the data folder belongs to another registry, issuer or secret, or to
 * another version.
 */
export async function openStores(
  config: Config,
  { registry, issuerId, issuerSecrets }: Identity,
  end: (error: IssueError) => void,
  log: Log,
): Promise<Stores> {
  if (config.databaseUrl !== undefined)
    throw new Error('DATABASE_URL cannot be used yet: PostgreSQL has no stores in this version')
  const kubo = await openKubo(config, log)
  const list = openErasureList(config.erasureList)
  const database = openDatabase(join(config.dataDir, 'gateway.db'), (error) => {
    log.error('flush_failed', { error: error.message })
    end(error)
  })
  try {
    database.bindTo({ registry, issuerId, fingerprints: fingerprintsOf(issuerSecrets) })
  } catch (error) {
    await database.close()
    throw error
  }
  const tombstones = createTombstones(database)
  const embedded = createSqliteStore(database)
  const store = kubo
    ? tombstones.guardStore(withOlder(kubo, embedded), kubo.erase)
    : tombstones.guardStore(embedded)
  const outbox = createSqliteOutbox(database)
  const persistence = kubo
    ? persistInOrder(store, outbox, (error) =>
        log.info('payloads_not_removed', { error: String(error) }),
      )
    : createSqlitePersistence(database, embedded, outbox)
  const history = createSqliteHistory(database)
  const documentIndex = createSqliteDocumentIndex(database)
  const successions = createSqliteSuccessions(database)
  const subkeys = subkeysOf(issuerSecrets)
  const blindTenant = (tenant: string) =>
    subkeys.map((one) => blindIndexOf(one, 'tenant', tenant, hkdfWithNode))
  const events = createSqliteEventLog(database, blindTenant)
  const deliveries = createSqliteDeliveries(database, blindTenant)
  const erasures = await openErasures(list, database, log)
  const isErased: IsErased = async (documentHash) => tombstones.isErased(fromHex(documentHash))
  const opened = createOpenedDocuments(tombstones.isErased)
  const batchLog = createSqliteBatchLog(database, outbox)
  const groups = kubo && guardGroups(kubo, tombstones)
  const batchDrafts = createSqliteBatchDrafts(database, { store: embedded, groups })
  return {
    ...{ database, kubo, tombstones, store, outbox, history, persistence, documentIndex },
    ...{ successions, events, deliveries, erasures, isErased, opened, batchLog, batchDrafts },
  }
}

/** Erased blocks are not pinned. */
function guardGroups(kubo: KuboStore, { isErased }: Tombstones): DraftGroups {
  return {
    async pin(blocks, note) {
      await kubo.pin(
        blocks.filter(({ hash }) => !isErased(hash)),
        note,
      )
      // Erased while it was being pinned.
      for (const { hash } of blocks) if (isErased(hash)) await kubo.erase(hash)
    },
    unpin: kubo.unpin,
  }
}

/** @returns The erasures in the database, with all that the list has. */
async function openErasures(list: ErasureList, database: Database, log: Log): Promise<Erasures> {
  const erasures = createSqliteErasures(database, list)
  const merged = await erasures.mergeList()
  if (merged > 0) log.warn('erasures_merged', { documents: merged })
  return erasures
}

/** @returns The payload store on a Kubo node, if one is configured; the node has answered. */
export async function openKubo(
  { ipfsApiUrl, ipfsAnnounce, ipfsTimeout }: Config,
  log: Log,
): Promise<KuboStore | undefined> {
  if (ipfsApiUrl === undefined) return undefined
  if (ipfsAnnounce)
    log.warn('kubo_announces', {
      warning:
        'IPFS_ANNOUNCE is true: the node may announce every payload to the public network, and what is public cannot be recalled',
    })
  const node = createKuboNode(ipfsApiUrl, ipfsTimeout, ipfsAnnounce)
  const kubo = createKuboStore(node, (warning) => log.warn('kubo_not_durable', { warning }))
  await kubo.assertReady()
  return kubo
}
