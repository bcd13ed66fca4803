import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import type { Hex } from '../document/hex.ts'
import { createBundle } from '../verifier/bundle.ts'
import { createChainReader } from '../verifier/readers/chain.ts'
import { createFinalityReader } from '../verifier/readers/finality.ts'
import { createIpfsGatewaySource } from '../verifier/readers/ipfs-gateway.ts'
import { createManyReader } from '../verifier/readers/many.ts'
import { createProvingReader } from '../verifier/readers/proof.ts'
import { createRequest } from '../verifier/readers/request.ts'
import type { PageConfig } from '../web/config.ts'
import { type Database, openDatabase } from './adapters/database.ts'
import { createGroupingReader } from './adapters/grouping-reader.ts'
import { openKeyFile } from './adapters/key-file.ts'
import { createKuboNode } from './adapters/kubo-node.ts'
import { createKuboStore, type KuboStore } from './adapters/kubo-store.ts'
import { hkdfWithNode } from './adapters/node-hkdf.ts'
import { openWithNode } from './adapters/node-open.ts'
import { sealWithNode } from './adapters/node-seal.ts'
import { ReadGroup } from './adapters/read-group.ts'
import { createRegistry } from './adapters/registry.ts'
import type { RpcPool } from './adapters/rpc.ts'
import type { Signer } from './adapters/signer.ts'
import { createSqliteHistory } from './adapters/sqlite-history.ts'
import { createSqliteIdempotencyLog } from './adapters/sqlite-idempotency.ts'
import { createSqliteKeep } from './adapters/sqlite-keep.ts'
import { createSqliteOutbox } from './adapters/sqlite-outbox.ts'
import { createSqliteStore } from './adapters/sqlite-store.ts'
import { createTombstones } from './adapters/tombstones.ts'
import { withOlder } from './adapters/with-older.ts'
import { createApp } from './app.ts'
import type { Config } from './config.ts'
import { createDeadline } from './deadline.ts'
import { failUnrouted } from './envelope.ts'
import { SCOPES } from './grant.ts'
import { openIdentities } from './identity.ts'
import { createBatcher } from './issue/batcher.ts'
import type { IssueError } from './issue/errors.ts'
import { assertOpenIssuer } from './issue/errors.ts'
import { watchFinality } from './issue/finality.ts'
import { keyOfIntent } from './issue/intent.ts'
import { createIssuing } from './issue/issue.ts'
import { keepInOrder } from './issue/keep.ts'
import { type Outcome, outcomeOf, outcomesOf } from './issue/outcome.ts'
import type { Intent } from './issue/ports.ts'
import { mendStore } from './issue/reconcile.ts'
import { createRevising } from './issue/revise.ts'
import { createSealing } from './issue/sealing.ts'
import { createLog, describeBug, type Log } from './log.ts'
import { createMetrics } from './metrics.ts'
import { fingerprintsOf, subkeysOf } from './secrets.ts'
import { shareRead } from './shared-read.ts'
import { readVerifyPage } from './verify-page.ts'

/** What a gateway needs beside its configuration; the local stack makes these itself. */
export type Identity = {
  /** The chain; closed with the gateway. */
  rpc: RpcPool
  /** CAIP-10, lower case. */
  registry: string
  /** The issuer that it writes for, whose account the signer has. */
  issuerId: number
  signer: Signer
  /** The newest first: it seals. Repeats of requests are recognized by any. */
  issuerSecrets: readonly [Hex, ...Hex[]]
  /** Gets DID documents; the platform's on a local chain, of public addresses only on any other. */
  fetchDid?: typeof fetch
}

/** How long what was read of the account is good for where it is reported. */
const READINESS_TTL_MS = 1_000
/** Repeats that are looked up in one call, and such calls at the same time. */
const LOOK_UPS = { maxKeys: 200, maxCalls: 2 }

/** How long clients have to end what they are at when the service stops; milliseconds. */
const CLOSE_GRACE = 1_000

export type Gateway = {
  port: number
  /** Copies the database; see `Database.copyTo`. */
  copyDatabase: Database['copyTo']
  /** Refuses new documents, lets what is in flight end, closes everything. */
  stop(): Promise<void>
}

/**
 * Starts a gateway. The only place that knows every part.
 *
 * @param end Ends the process at once, without answering anybody: nobody can say what is on the disk.
 * @throws {IssueError} when the chain or the payload store cannot be used, or the account cannot issue.
 * @throws {DataDirError} when the data folder belongs to another registry, issuer or secret, or to another version.
 */
export async function startGateway(
  config: Config,
  identity: Identity,
  end: (error: IssueError) => void,
): Promise<Gateway> {
  const { dataDir, ipfsGateways, ipfsTimeout, maxHeadAge, wait } = config
  const { finality } = config
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const log = createLog(config.logLevel)
  const { rpc } = identity
  const { issuerId } = identity
  const { account, transactions, registry, blocks } = await createRegistry(
    // However many read, issuing has connections of its own.
    rpc.apart(),
    {
      registry: identity.registry,
      issuerId,
      signer: identity.signer,
      finality,
      ...(config.feeCap !== undefined && { feeCap: config.feeCap }),
    },
  )
  // Anybody may ask for it.
  const readiness = shareRead(account.assertReady, READINESS_TTL_MS)
  const { mayIssue, mayRevoke } = await readiness()
  if (!mayIssue)
    log.warn('issuer_closed', {
      warning: 'the issuer is closed: documents can be revoked only',
    })
  if (!mayRevoke)
    log.warn('account_may_not_revoke', {
      warning: 'the account lacks REVOKE: documents can be issued only',
    })
  const identities = await openIdentities(
    config,
    rpc,
    {
      ...{ registry: identity.registry, issuerId },
      account: identity.signer.address,
      fetchDid: identity.fetchDid,
    },
    log,
  )
  const chain = createChainReader(rpc, identity.registry, finality)
  const groupedChain = createGroupingReader(
    chain,
    createManyReader(rpc, identity.registry),
    createFinalityReader(createRequest(rpc), finality),
  )
  const kubo = await openKubo(config, log)
  const database = openDatabase(join(dataDir, 'gateway.db'), (error) => {
    log.error('flush_failed', { error: error.message })
    end(error)
  })
  database.bindTo({
    registry: identity.registry,
    issuerId,
    fingerprints: fingerprintsOf(identity.issuerSecrets),
  })
  const tombstones = createTombstones(database)
  const embedded = createSqliteStore(database)
  const store = tombstones.guardStore(kubo ? withOlder(kubo, embedded) : embedded)
  const outbox = createSqliteOutbox(database)
  const history = createSqliteHistory(database)
  const keep = kubo
    ? keepInOrder(store, outbox, (error) =>
        log.info('payloads_not_removed', { error: String(error) }),
      )
    : createSqliteKeep(database, embedded, outbox)
  const keys = openKeyFile(join(dataDir, 'keys.json'), (error) =>
    log.error('key_file_unreadable', { error: String(error) }),
  )
  if (config.apiKey !== undefined) keys.put('environment', config.apiKey, [...SCOPES])

  const metrics = createMetrics({
    depth: () => batcher.depth(),
    balance: async () => (await readiness()).balance,
    spentLastHour: () => batcher.spentLastHour(),
    stopped: () => batcher.stopped(),
    feeCaps: config.feeCaps,
  })
  const batcher = createBatcher({
    account,
    transactions,
    registry,
    blocks,
    outbox,
    feeCaps: config.feeCaps,
    concluded: metrics.concluded,
    log,
    maxBatch: config.maxBatch,
    withdraw: keep.withdraw,
  })
  const revising = createRevising({
    issuerId,
    registry,
    chain,
    outbox,
    batcher,
  })
  const lookUps = new ReadGroup<Intent, Outcome>({
    ...LOOK_UPS,
    idOf: keyOfIntent,
    callOf: () => '',
    readMany: (intents) => outcomesOf(registry, intents),
    readOne: (intent) => outcomeOf(registry, intent),
  })
  const issuing = createIssuing({
    registryId: identity.registry,
    issuerId,
    outcomeOf: (intent) => lookUps.read(intent),
    chain,
    keep,
    history,
    batcher,
    sealing: createSealing({
      subkeys: subkeysOf(identity.issuerSecrets),
      idempotency: createSqliteIdempotencyLog(database),
      seal: sealWithNode,
      hkdf: hkdfWithNode,
    }),
  })
  const sources = [
    store,
    ...ipfsGateways.map((url) => tombstones.guardSource(createIpfsGatewaySource(url, ipfsTimeout))),
  ]
  const app = createApp({
    issuing,
    revising,
    store,
    history,
    ...(identities.didDocument && { didDocument: identities.didDocument }),
    log,
    wait,
    // Of a service that waits for no block, requests still have to read the chain.
    newDeadline: () => createDeadline(wait || config.rpcTimeout),
    findKey: keys.find,
    assertReady: async () => {
      batcher.assertOpen()
      await database.assertReady()
      await kubo?.assertReady()
      return assertOpenIssuer(await readiness())
    },
    lowBalance: config.lowBalance,
    metrics,
    standingOf: async (key) =>
      key.issuerId === issuerId ? outbox.find('issue', key.documentHash) : undefined,
    verifyOptions: {
      chain: groupedChain,
      opener: openWithNode,
      identity: identities.source,
      finality: true,
      blocks: sources,
      onError: (error) => log.error('content_unreadable', describeBug(error)),
      ...(maxHeadAge !== undefined && { maxHeadAge }),
    },
    provingChain: createProvingReader(rpc, identity.registry, finality),
    bundleOf: (publicId, signal) =>
      createBundle(publicId, {
        signal,
        provider: rpc,
        registry: identity.registry,
        blocks: sources,
      }),
    // Anybody may ask there: no number of slow reads takes the connections that issuing needs.
    rpc: rpc.apart(),
    verifyPage: readVerifyPage(pageConfigOf(config, identity.registry)),
    addresses: {
      baseUrl: config.baseUrl,
      verifyUrl: config.verifyUrl,
      registry: identity.registry,
      issuerId: identity.issuerId,
    },
  })

  const mended = await mendStore(outbox, store)
  if (mended > 0) log.info('payloads_restored', { blocks: mended })
  await batcher.start()
  const stopWatching = watchFinality({
    registry,
    blocks,
    outbox,
    batcher,
    log,
  })
  const server = createServer((incoming, outgoing) => {
    const { method = '' } = incoming
    const started = performance.now()
    // One for each request: the error handler is given the error alone.
    const respond = getRequestListener(app.fetch, {
      hostname: config.host,
      errorHandler: (error) => failUnrouted(error, { method, started }, log),
    })
    return respond(incoming, outgoing)
  }).listen(config.port, config.host)
  await new Promise((resolve, reject) => {
    server.once('listening', resolve)
    server.once('error', reject)
  })
  log.info('listening', { port: (server.address() as AddressInfo).port })

  identities.start()

  return {
    port: (server.address() as AddressInfo).port,
    copyDatabase: database.copyTo,
    async stop() {
      identities.stop()
      const closed = new Promise((resolve) => server.close(resolve))
      await Promise.all([batcher.stop(), stopWatching()])
      // Who is still sending a request, or not reading an answer, has had time enough.
      setTimeout(() => server.closeAllConnections(), CLOSE_GRACE).unref()
      await closed
      await database.close()
      await rpc.close()
    },
  }
}

/** What the page trusts and asks: nothing of it that is a secret of the gateway, such as `RPC_URL`. */
function pageConfigOf(
  { baseUrl, publicRpcUrls, ipfsGateways, maxHeadAge }: Config,
  registry: string,
): PageConfig {
  return {
    registry,
    rpc: publicRpcUrls.length > 0 ? publicRpcUrls : [`${baseUrl}/rpc`],
    ipfs: [baseUrl, ...ipfsGateways],
    service: baseUrl,
    ...(maxHeadAge !== undefined && { maxHeadAge }),
  }
}

/** @returns The payload store on a Kubo node, where one is set; it has answered. */
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
