import { mkdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { fromHex, type Hex } from '../document/hex.ts'
import { deriveSubkeys } from '../document/keys.ts'
import { createChainReader } from '../verifier/readers/chain.ts'
import { createIpfsGatewaySource } from '../verifier/readers/ipfs-gateway.ts'
import { openDatabase } from './adapters/database.ts'
import { openKeyFile } from './adapters/key-file.ts'
import { createKuboNode } from './adapters/kubo-node.ts'
import { createKuboStore, type KuboStore } from './adapters/kubo-store.ts'
import { createRegistry } from './adapters/registry.ts'
import { createRpcPool } from './adapters/rpc.ts'
import type { Signer } from './adapters/signer.ts'
import { createSqliteOutbox } from './adapters/sqlite-outbox.ts'
import { createSqliteStore } from './adapters/sqlite-store.ts'
import { createTombstones } from './adapters/tombstones.ts'
import { withOlder } from './adapters/with-older.ts'
import { createApp } from './app.ts'
import type { Config } from './config.ts'
import { SCOPES } from './grant.ts'
import { createBatcher } from './issue/batcher.ts'
import { watchFinality } from './issue/finality.ts'
import { createIssuing } from './issue/issue.ts'
import { keepInOrder, keepTogether } from './issue/keep.ts'
import { createLog, type Log } from './log.ts'

/** What a gateway needs beside its configuration; the local stack makes these itself. */
export type Identity = {
  rpcUrls: readonly string[]
  /** CAIP-10, lower case. */
  registry: string
  signer: Signer
  issuerSecret: Hex
}

export type Gateway = {
  port: number
  /** Refuses new documents, lets what is in flight end, closes everything. */
  stop(): Promise<void>
}

/**
 * Starts a gateway. The only place that knows every part.
 *
 * @throws {IssueError} when the chain or the payload store cannot be read or the account cannot issue.
 */
export async function startGateway(
  config: Config,
  identity: Identity,
): Promise<Gateway> {
  const { dataDir, ipfsGateways, ipfsTimeout, maxHeadAge, wait } = config
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const log = createLog(config.logLevel)
  const rpc = createRpcPool(identity.rpcUrls, config.rpcTimeout)
  const registry = await createRegistry(rpc, identity.registry, identity.signer)
  const kubo = await openKubo(config, log)
  const database = openDatabase(join(dataDir, 'gateway.db'))
  const tombstones = createTombstones(database)
  const embedded = createSqliteStore(database)
  const store = tombstones.guardStore(
    kubo ? withOlder(kubo, embedded) : embedded,
  )
  const outbox = createSqliteOutbox(database)
  const keys = openKeyFile(join(dataDir, 'keys.json'))
  if (config.apiKey !== undefined)
    keys.put('environment', config.apiKey, [...SCOPES])

  const batcher = createBatcher({
    registry,
    outbox,
    log: log.info,
    async forget(intents) {
      await outbox.withdraw(intents)
      // Nobody waits for it: at worst, a sealed document stays that was never issued.
      const hashes = intents.map(({ documentHash }) => fromHex(documentHash))
      Promise.all(hashes.map(store.remove)).catch((error) =>
        log.info('blocks not removed', { error: String(error) }),
      )
    },
  })
  const issuing = createIssuing({
    registry,
    keep: kubo ? keepInOrder(store, outbox) : keepTogether(store, outbox),
    batcher,
    subkeys: deriveSubkeys(fromHex(identity.issuerSecret)),
  })
  const app = createApp({
    issuing,
    store,
    log,
    wait,
    findKey: keys.find,
    assertReady: async () => {
      batcher.assertOpen()
      await registry.assertReady()
      await kubo?.assertReady()
    },
    isPending: (documentHash) => outbox.find(documentHash)?.anchored === false,
    verifyOptions: {
      chain: createChainReader(rpc, identity.registry),
      blocks: [
        store,
        ...ipfsGateways.map((url) =>
          tombstones.guardSource(createIpfsGatewaySource(url, ipfsTimeout)),
        ),
      ],
      ...(maxHeadAge !== undefined && { maxHeadAge }),
    },
    addresses: {
      baseUrl: config.baseUrl,
      verifyUrl: config.verifyUrl,
      registry: identity.registry,
    },
  })

  batcher.start()
  const stopWatching = watchFinality({
    registry,
    outbox,
    batcher,
    log: log.info,
  })
  const server = serve({
    fetch: app.fetch,
    port: config.port,
    hostname: config.host,
  })
  await new Promise((resolve, reject) => {
    server.once('listening', resolve)
    server.once('error', reject)
  })
  log.info('listening', { port: (server.address() as AddressInfo).port })

  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      await Promise.all([batcher.stop(), stopWatching()])
      await new Promise((resolve) => server.close(resolve))
      await database.close()
      await rpc.close()
    },
  }
}

async function openKubo(
  { ipfsApiUrl, ipfsAnnounce, ipfsTimeout }: Config,
  log: Log,
): Promise<KuboStore | undefined> {
  if (ipfsApiUrl === undefined) return undefined
  const warn = (warning: string) => log.error('warning', { kubo: warning })
  if (ipfsAnnounce)
    warn(
      'IPFS_ANNOUNCE is true: the public network may be told of every payload, and what is public cannot be recalled',
    )
  const node = createKuboNode(ipfsApiUrl, ipfsTimeout, ipfsAnnounce)
  const kubo = createKuboStore(node, warn)
  await kubo.assertReady()
  return kubo
}
