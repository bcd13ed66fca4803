import { mkdirSync } from 'node:fs'
import type { Config } from './config.ts'
import { pruneEvents } from './event-retention.ts'
import { openIdentities } from './identity.ts'
import type { IssueError } from './issue/errors.ts'
import { watchFinality } from './issue/finality.ts'
import { restorePayloads } from './issue/restore-payloads.ts'
import { listen } from './listen.ts'
import { createLog } from './log.ts'
import { openApp } from './open-app.ts'
import { openBatches } from './open-batches.ts'
import { claimAccount, type Identity, openChain, openReaders } from './open-chain.ts'
import { openIssuing } from './open-issuing.ts'
import { openKeys } from './open-keys.ts'
import { openStores, type Stores } from './open-stores.ts'
import { openWebhooks } from './open-webhooks.ts'

export type Gateway = {
  port: number
  /** Copies the database; see `DatabaseStores.copyTo`. */
  copyDatabase: Stores['copyTo']
  /**
   * Refuses new documents, lets requests and transactions in flight finish, then closes everything.
   */
  stop(): Promise<void>
}

/**
 * Starts a gateway. The only place that knows every part.
 *
 * @param end Ends the process at once, without a response: after a failed flush it is unknown what
 * is on the disk.
 * @throws {IssueError} when the chain or the payload store cannot be used, the account cannot
 * issue, or something else writes with it.
 * @throws {DataDirError} when the data folder belongs to another registry, issuer or secret, or to
 * another version.
 */
export async function startGateway(
  config: Config,
  identity: Identity,
  end: (error: IssueError) => void,
): Promise<Gateway> {
  const undo: Undo = []
  try {
    return await start(config, identity, end, undo)
  } catch (error) {
    // The start may be repeated in this process, which must not lock itself out.
    for (const undoOne of undo.toReversed()) await undoOne()
    throw error
  }
}

/** What closes the parts that were opened, in their order. */
type Undo = (() => Promise<unknown>)[]

/** @param undo Gets what has to be closed if it rejects. */
async function start(
  config: Config,
  identity: Identity,
  end: (error: IssueError) => void,
  undo: Undo,
): Promise<Gateway> {
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  const log = createLog(config.logLevel)
  const { rpc, registry, issuerId, signer, fetchDid } = identity
  const chain = await openChain(config, identity, log)
  const issuer = { registry, issuerId, account: signer.address, fetchDid }
  const identities = await openIdentities(config, rpc, issuer, log)
  const readers = openReaders(config, identity)
  const stores = await openStores(config, identity, end, log)
  const { outbox, store } = stores
  undo.push(stores.close)
  const account = await claimAccount(config, chain, outbox, log)
  undo.push(account.leave)
  const parts = { chain, readers, stores, log }
  const pipeline = openIssuing(config, identity, parts)
  const { batcher, foreign, superseding, erasing } = pipeline
  foreign.begin(account.firstNonce)
  const apiKeys = await openKeys(config, stores.keys, log)
  undo.push(apiKeys.close)
  const webhooks = openWebhooks(config, identity, { stores, metrics: pipeline.metrics, log })
  const stopping = new AbortController()
  undo.push(async () => stopping.abort())
  const { signal } = stopping
  const batches = openBatches(config, identity, { chain, stores, pipeline, signal, logger: log })
  const app = openApp(config, identity, {
    ...{ chain, readers, identities, stores, pipeline, apiKeys, webhooks, batches, log },
  })

  // Beside the requests: a row has its payload, and it stays until this is done.
  const restored = restorePayloads({ outbox, store, signal, log })
  undo.push(batcher.stop, erasing.stop)
  erasing.start()
  batches.batches.start()
  await batcher.start()
  const stopWatching = watchFinality({
    registry: chain.registry,
    blocks: chain.blocks,
    outbox: pipeline.outbox,
    batcher,
    after: restored,
    log,
  })
  const stopSuperseding = superseding.start()
  const stopPruning = pruneEvents(stores.events, config.eventRetention, log)
  const stopCourier = webhooks.start()
  undo.push(stopWatching, stopSuperseding, stopPruning, stopCourier)
  const listener = await listen(app, config, { log, metrics: pipeline.metrics })
  identities.start()

  return {
    port: listener.port,
    copyDatabase: stores.copyTo,
    async stop() {
      identities.stop()
      stopping.abort()
      await listener.stop(() =>
        Promise.all([
          ...[batcher.stop(), stopWatching(), stopSuperseding()],
          ...[stopPruning(), stopCourier(), erasing.stop()],
        ]),
      )
      await apiKeys.close()
      await stores.close()
      await account.leave()
      await rpc.close()
    },
  }
}
