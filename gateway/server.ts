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
import { sealWithNode } from './adapters/node-seal.ts'
import { createRegistry } from './adapters/registry.ts'
import { createRpcPool } from './adapters/rpc.ts'
import { createSqliteIdempotencyLog } from './adapters/sqlite-idempotency.ts'
import { createSqliteOutbox } from './adapters/sqlite-outbox.ts'
import { createSqliteStore } from './adapters/sqlite-store.ts'
import { createApp } from './app.ts'
import type { Config } from './config.ts'
import { SCOPES } from './grant.ts'
import { createBatcher } from './issue/batcher.ts'
import { watchFinality } from './issue/finality.ts'
import { createIssuing } from './issue/issue.ts'
import { createRevoking } from './issue/revoke.ts'
import { createLog } from './log.ts'

/** What a gateway needs beside its configuration; the local stack makes these itself. */
export type Identity = {
  rpcUrls: readonly string[]
  /** CAIP-10, lower case. */
  registry: string
  issuerKey: Hex
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
 * @throws {IssueError} when the chain cannot be read or the account cannot issue.
 */
export async function startGateway(
  config: Config,
  identity: Identity,
): Promise<Gateway> {
  const { dataDir, ipfsGateways, ipfsTimeout, maxHeadAge, wait } = config
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const log = createLog(config.logLevel)
  const rpc = createRpcPool(identity.rpcUrls, config.rpcTimeout)
  const registry = await createRegistry(rpc, {
    registry: identity.registry,
    issuerKey: identity.issuerKey,
    ...(config.feeCap !== undefined && { feeCap: config.feeCap }),
  })
  const chain = createChainReader(rpc, identity.registry)
  const database = openDatabase(join(dataDir, 'gateway.db'))
  const store = createSqliteStore(database)
  const outbox = createSqliteOutbox(database)
  const keys = openKeyFile(join(dataDir, 'keys.json'))
  if (config.apiKey !== undefined)
    keys.put('environment', config.apiKey, [...SCOPES])

  const batcher = createBatcher({
    registry,
    outbox,
    log: log.info,
    maxBatch: config.maxBatch,
    async forget(intents) {
      for (const { kind, documentHash } of await outbox.withdraw(intents))
        if (kind === 'issue') await store.remove(fromHex(documentHash))
    },
  })
  const revoking = createRevoking({ registry, chain, outbox, batcher })
  const issuing = createIssuing({
    registry,
    chain,
    idempotency: createSqliteIdempotencyLog(database),
    store,
    outbox,
    batcher,
    subkeys: deriveSubkeys(fromHex(identity.issuerSecret)),
    seal: sealWithNode,
  })
  const app = createApp({
    issuing,
    revoking,
    store,
    log,
    wait,
    findKey: keys.find,
    assertReady: async () => {
      batcher.assertOpen()
      await registry.assertReady()
    },
    isPending: (documentHash) =>
      outbox.find('issue', documentHash)?.anchored === false,
    verifyOptions: {
      chain,
      blocks: [
        store,
        ...ipfsGateways.map((url) => createIpfsGatewaySource(url, ipfsTimeout)),
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
