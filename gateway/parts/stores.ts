import type { Log } from '#base/log.ts'
import { fromHex } from '#document/hex.ts'
import { createOpenedDocuments, type GatewayDocuments } from '#documents/opened-documents.ts'
import type { KuboStore } from '#kubo/store.ts'
import type { BatchDrafts } from '#promise/batch-log.ts'
import type { IsErased } from '#promise/erase.ts'
import type { IssueError } from '#promise/errors.ts'
import { type Persistence, persistInOrder } from '#promise/persistence.ts'
import type { PayloadStore } from '#promise/ports.ts'
import type { Config } from '#settings/config.ts'
import { fingerprintsOf } from '#settings/secrets.ts'
import type { DraftGroups } from '#store/batch-drafts.ts'
import { openErasureList } from '#store/erasure-list.ts'
import type { DatabaseStores } from '#store/stores.ts'
import { createTombstones, type Tombstones, withOlder } from '#store/tombstones.ts'
import type { Identity } from './chain.ts'
import { databaseOf } from './databases.ts'

/** Everything that the gateway stores. */
export type Stores = Omit<
  DatabaseStores,
  'embedded' | 'embeddedPersistence' | 'isErased' | 'batchDrafts'
> & {
  /** Absent when payloads are stored in the database. */
  kubo: KuboStore | undefined
  tombstones: Tombstones
  /** All payloads, wherever they are stored. */
  store: PayloadStore
  batchDrafts: BatchDrafts
  persistence: Persistence
  isErased: IsErased
  /** Documents that were opened recently. */
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
  const kubo = await openKubo(config, log)
  const adapter = await databaseOf(config)
  const database = await adapter.openStores({
    binding: { registry, issuerId, fingerprints: fingerprintsOf(issuerSecrets) },
    erasureList: openErasureList(config.erasureList),
    termMs: config.lockTerm,
    acceptLoss: config.acceptLoss,
    log,
    end,
  })
  const { embedded, embeddedPersistence, isErased, batchDrafts, ...ports } = database
  const tombstones = createTombstones(isErased)
  const store = kubo
    ? tombstones.guardStore(withOlder(kubo, embedded), kubo.erase)
    : tombstones.guardStore(embedded, embedded.delete)
  const persistence = kubo ? persistInOrder(store, ports.outbox) : embeddedPersistence
  return {
    ...ports,
    kubo,
    tombstones,
    store,
    persistence,
    batchDrafts: batchDrafts(kubo && guardGroups(kubo, tombstones)),
    isErased: (documentHash) => isErased(fromHex(documentHash)),
    opened: createOpenedDocuments(isErased),
  }
}

/** Keeps erased blocks from being pinned. */
function guardGroups(kubo: KuboStore, { isErased }: Tombstones): DraftGroups {
  return {
    async pin(blocks, note) {
      const erased = await Promise.all(blocks.map(({ hash }) => isErased(hash)))
      await kubo.pin(
        blocks.filter((_, i) => !erased[i]),
        note,
      )
      // The block was erased while it was being pinned.
      for (const { hash } of blocks) if (await isErased(hash)) await kubo.erase(hash)
    },
    unpin: kubo.unpin,
  }
}

/** @returns The payload store on a Kubo node if one is configured. The node has then answered. */
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
  // Loaded only when needed. It is a fifth of what a start loads, and most gateways have no Kubo.
  const { createKuboNode } = await import('#kubo/node.ts')
  const { createKuboStore } = await import('#kubo/store.ts')
  const node = createKuboNode(ipfsApiUrl, ipfsTimeout, ipfsAnnounce)
  const kubo = createKuboStore(node, (warning) => log.warn('kubo_not_durable', { warning }))
  await kubo.assertReady()
  return kubo
}
