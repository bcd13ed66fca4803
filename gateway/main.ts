import { clock, createCertainTime } from '#base/clock.ts'
import { createLog, type Log } from '#base/log.ts'
import type { StartChore } from '#engine/leader.ts'
import { pruneEvents } from '#events/events.ts'
import { watchFinality } from '#finality/finality.ts'
import { startMirror } from '#kubo/mirror.ts'
import { lockAccount } from '#parts/account-lock.ts'
import { openApp } from '#parts/app.ts'
import { openBatches } from '#parts/batches.ts'
import { type Chain, type Identity, openChain, openReaders } from '#parts/chain.ts'
import { openIdentities } from '#parts/identity.ts'
import { type IssuingParts, openIssuing } from '#parts/issuing.ts'
import { openKeys } from '#parts/keys.ts'
import type { LeadingSession } from '#parts/leader.ts'
import { listen } from '#parts/listen.ts'
import { type ChosenModules, type Core, openModules } from '#parts/module.ts'
import type { Ports } from '#parts/ports.ts'
import { noteRequests } from '#parts/requests.ts'
import { openStores, type Stores } from '#parts/stores.ts'
import { openVerifying } from '#parts/verifying.ts'
import type { IssueError } from '#promise/errors.ts'
import type { Config } from '#settings/config.ts'
import { prepareFolder } from '#store/drivers/sqlite/open-file.ts'

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
 * Starts a gateway. This is the only place that knows every part.
 *
 * @param end Ends the process at once without a response, because after a failed flush it is
 * unknown what is on disk.
 * @throws {IssueError} when the chain cannot be used, the account cannot issue, or something else
 * writes with it.
 * @throws {DataDirError} when the data folder belongs to another registry, issuer or secret, or to
 * another version.
 */
export async function startGateway(
  config: Config,
  identity: Identity,
  modules: ChosenModules,
  end: (error: IssueError) => void,
): Promise<Gateway> {
  const undo: Undo = []
  try {
    return await start(config, identity, modules, end, undo)
  } catch (error) {
    // The start may be repeated in this process, which must not lock itself out.
    for (const undoOne of undo.toReversed()) await undoOne()
    throw error
  }
}

/** Functions that close the opened parts, in the order of opening. */
type Undo = (() => Promise<unknown>)[]

/** @param undo Receives the functions to call if this rejects. */
async function start(
  config: Config,
  identity: Identity,
  modules: ChosenModules,
  end: (error: IssueError) => void,
  undo: Undo,
): Promise<Gateway> {
  prepareFolder(config.dataDir)
  const log = createLog(config.logLevel)
  const { rpc, registry, issuerId, signer, otherSigners = [], fetchDid } = identity
  const chain = await openChain(config, identity, log)
  const accounts = [signer, ...otherSigners].map(({ address }) => address)
  const keys = identity.credentialKeys?.published ?? []
  const issuer = { registry, issuerId, accounts, fetchDid, keys }
  const identities = await openIdentities(config, rpc, issuer, log)
  const readers = openReaders(config, identity)
  const stores = await openStores(config, identity, end, log)
  undo.push(stores.close)
  // The locks of a shared database keep gateways apart. Nothing else reaches a local chain.
  const isApart = !stores.shared.isSole || config.rpcUrls.length === 0
  const unlock = isApart ? async () => {} : await lockAccount(chain.accountId)
  undo.push(unlock)
  const ports: Ports = {}
  const pipeline = openIssuing(config, identity, { chain, readers, stores, ports, log })
  const { leader, erasing } = pipeline
  const apiKeys = await openKeys(config, stores.keys, log)
  undo.push(apiKeys.close)
  const certainTime = createCertainTime(chain.blocks.head, clock)
  const { metrics } = pipeline
  const verifying = openVerifying(config, identity, { readers, identities, stores, log })
  const requests = noteRequests(pipeline)
  const core: Core = {
    config,
    identity,
    stores,
    metrics,
    certainTime,
    identities,
    apiKeys,
    verifying,
    ports,
    pipeline,
    quotes: chain.transactions,
    quietFor: requests.quietFor,
    log,
  }
  const opened = openModules(modules, core)
  undo.push(opened.close)
  const { checkDocument } = opened
  const stopping = new AbortController()
  undo.push(async () => stopping.abort())
  const { signal } = stopping
  const work = { chain, stores, pipeline, checkDocument, signal, logger: log }
  const batches = openBatches(config, identity, work)
  const { app, chores } = openApp({
    ...core,
    readers,
    pipeline: requests.pipeline,
    batches,
    modules: opened,
  })

  undo.push(leader.stop)
  batches.batches.start()
  await leader.start()
  const startChores: StartChore<LeadingSession>[] = [
    erasing.start,
    ({ mirror }) => startMirroring(mirror, stores, log),
    (leading) => startFinality(chain, { leading, pipeline, log }),
    () => pruneEvents(stores.events, { retention: config.eventRetention, certainTime }, log),
    ...chores,
  ]
  const stopChores = startChores.map(leader.chore)
  undo.push(...stopChores)
  const listener = await listen(app, config, { log, metrics })
  identities.start()

  return {
    port: listener.port,
    async copyDatabase(...to) {
      await stores.copyTo(...to)
      await stores.backups?.note()
    },
    async stop() {
      identities.stop()
      stopping.abort()
      await listener.stop(() =>
        Promise.all([leader.stop(), ...stopChores.map((stopChore) => stopChore())]),
      )
      await opened.close()
      await apiKeys.close()
      await stores.close()
      await unlock()
      await rpc.close()
    },
  }
}

/** Pins payloads on the Kubo node of the settings, or forgets that there was one. */
function startMirroring(
  rows: LeadingSession['mirror'],
  { kubo, tombstones }: Stores,
  log: Log,
): () => Promise<void> {
  if (kubo) return startMirror({ rows, kubo, isErased: tombstones.isErased, log })
  const forgotten = rows.forget().catch((error) => {
    log.warn('mirror_not_forgotten', { error: String(error) })
  })
  return () => forgotten
}

/** Watches the blocks of sends. */
function startFinality(
  { registry, blocks }: Chain,
  parts: { leading: LeadingSession; pipeline: IssuingParts; log: Log },
): () => Promise<void> {
  const { leading, pipeline, log } = parts
  return watchFinality({
    registry,
    blocks,
    outbox: leading.outbox,
    final: pipeline.times.final,
    leader: pipeline.leader,
    interval: pipeline.blockTime.interval,
    inFlight: () => pipeline.leader.depth().inFlight,
    log,
  })
}
