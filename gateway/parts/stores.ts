import type { Log } from '#base/log.ts'
import { fromHex } from '#document/hex.ts'
import { createOpenedDocuments, type GatewayDocuments } from '#documents/opened-documents.ts'
import type { KuboStore } from '#kubo/store.ts'
import type { IsErased } from '#promise/erase.ts'
import type { IssueError } from '#promise/errors.ts'
import type { PayloadStore } from '#promise/ports.ts'
import type { Config } from '#settings/config.ts'
import { fingerprintsOf } from '#settings/secrets.ts'
import { openErasureList } from '#store/erasure-list.ts'
import type { DatabaseStores } from '#store/stores.ts'
import { createTombstones, type Tombstones } from '#store/tombstones.ts'
import type { Identity } from './chain.ts'
import { databaseOf } from './databases.ts'

/** Everything that the gateway stores. */
export type Stores = Omit<DatabaseStores, 'isErased'> & {
  /** The node that mirrors the payloads, if there is one. */
  kubo: KuboStore | undefined
  tombstones: Tombstones
  /** All payloads: those in the database, and what else the node has. */
  store: PayloadStore
  isErased: IsErased
  /** Documents that were opened recently. */
  opened: GatewayDocuments
}

/**
 * @param end See `startGateway`.
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
  const { isErased, ...ports } = database
  const tombstones = createTombstones(isErased)
  return {
    ...ports,
    kubo,
    tombstones,
    store: tombstones.guardStore(ports.embedded, kubo),
    isErased: (documentHash) => isErased(fromHex(documentHash)),
    opened: createOpenedDocuments(isErased),
  }
}

/** @returns The Kubo node of the settings, if there is one. */
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
  return createKuboStore(node, (warning) => log.warn('kubo_not_durable', { warning }))
}
