import { getConnInfo } from '@hono/node-server/conninfo'
import { shareRead } from '#base/concurrency.ts'
import type { Log } from '#base/log.ts'
import type { Metrics } from '#base/metrics.ts'
import { hkdfWithNode, openWithNode } from '#base/node-crypto.ts'
import { createMemoryRateLimiter } from '#base/rate-limit.ts'
import { VERSION } from '#base/version.ts'
import { PATIENCE_MS } from '#chain/rpc.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { createFindDocument } from '#documents/find.ts'
import { createListing } from '#documents/list.ts'
import { createOpenIndexed } from '#documents/opening.ts'
import { createApp } from '#http/app.ts'
import { createClientAddress } from '#http/core/client-address.ts'
import type { RateLimits } from '#http/core/env.ts'
import type { AppDeps } from '#http/deps.ts'
import { readVerifyPage } from '#http/pages/verify-page.ts'
import { assertOpenIssuer } from '#promise/errors.ts'
import { createFindIssue } from '#promise/revisable.ts'
import type { Config } from '#settings/config.ts'
import { subkeysOf } from '#settings/secrets.ts'
import { createBundle } from '#verifier/bundle.ts'
import type { PageConfig } from '#web/config.ts'
import type { BatchParts } from './batches.ts'
import type { Identity, openReaders } from './chain.ts'
import type { Chore, Core, Modules } from './module.ts'

/** The parts that the REST API uses; `pipeline` is that for requests. */
export type AppParts = Omit<Core, 'metrics' | 'certainTime' | 'quotes' | 'quietFor'> & {
  readers: ReturnType<typeof openReaders>
  batches: BatchParts
  modules: Modules
}

/** Anybody may request readiness, so the database is asked once in this time. */
const READINESS_TTL_MS = 1_000

/** @returns The REST API, and the chores of modules. */
export function openApp(parts: AppParts): {
  app: ReturnType<typeof createApp>
  chores: readonly Chore[]
} {
  const { config, identity, readers, identities, stores, pipeline, apiKeys, log } = parts
  const { blocks, verifyOptions, newDeadline, addresses } = parts.verifying
  const { walletOffers, people } = parts.ports
  const { rpc, registry, issuerId } = identity
  const { store, outbox, history, acts, events, isErased } = stores
  const { issuing, revising, superseding, erasing, leader, metrics } = pipeline
  const storesReady = shareRead(stores.assertReady, READINESS_TTL_MS)
  const deps: AppDeps = {
    issuing,
    revising,
    superseding,
    erasing,
    store,
    isErased,
    history,
    acts,
    events,
    log,
    metrics,
    ...(identities.didDocument && { didDocument: identities.didDocument }),
    walletOffers,
    wait: config.wait,
    newDeadline,
    findKey: apiKeys.findKey,
    keys: apiKeys.keys,
    checkDocument: parts.modules.checkDocument,
    authenticators: parts.modules.authenticators,
    rateLimits: rateLimitsOf(config, log, metrics),
    assertReady: async () => {
      leader.assertOpen()
      leader.assertAlone()
      await storesReady()
      return assertOpenIssuer(await pipeline.readiness())
    },
    headAge: pipeline.headAge,
    lowBalance: config.lowBalance,
    version: VERSION,
    ...openDocuments(identity, parts),
    findIssue: createFindIssue(issuerId, outbox, store),
    ...parts.batches,
    verifyOptions,
    provingChain: readers.proving,
    bundleOf: (publicId, signal) =>
      createBundle(publicId, { signal, provider: rpc, registry, blocks }),
    // The route is public, and slow reads must not take the connections that issuing needs.
    rpc: rpc.apart(PATIENCE_MS.public),
    verifyPage: readVerifyPage({
      ...pageConfigOf(config, registry),
      ...(walletOffers?.areForHolders && { walletsOf: issuerId }),
    }),
    peoplePage: people?.page,
    addresses,
  }
  const { resources, chores } = parts.modules.serve(deps)
  return { app: createApp(deps, resources), chores }
}

/** Opens the documents of this issuer with the gateway's index. */
function openDocuments({ issuerId, issuerSecrets }: Identity, { readers, stores }: AppParts) {
  const { store, outbox, history, documentIndex, successions } = stores
  const subkeys = subkeysOf(issuerSecrets)
  const keys = { issuerId, subkeys, hkdf: hkdfWithNode }
  const openIndexed = createOpenIndexed({ ...keys, store, opener: openWithNode })
  const listing = createListing({
    ...keys,
    outbox,
    history,
    successions,
    index: documentIndex,
    open: openIndexed,
    chain: readers.grouped,
  })
  const findDocument = createFindDocument({ ...keys, index: documentIndex, open: openIndexed })
  return { documentIndex, successions, listing, findDocument }
}

/** The maximum number of keys and addresses whose quotas are in memory. */
const MAX_LIMITED = 100_000

function rateLimitsOf(
  { keyRateLimit, addressRateLimit, trustedProxies }: Config,
  log: Log,
  { limited: refused }: Metrics,
): RateLimits {
  const clientAddress = createClientAddress(trustedProxies, () =>
    log.warn('forwarded_for_ignored', {
      hint: 'requests behind a proxy count toward the limit of its address: set TRUSTED_PROXIES',
    }),
  )
  return {
    keys: createMemoryRateLimiter(MAX_LIMITED),
    addresses: createMemoryRateLimiter(MAX_LIMITED),
    ...(keyRateLimit !== undefined && { perKey: keyRateLimit }),
    ...(addressRateLimit !== undefined && { perAddress: addressRateLimit }),
    refused,
    addressOf: (c) => clientAddress(getConnInfo(c).remote.address, c.req.header('x-forwarded-for')),
  }
}

/**
 * @returns The registry and sources for the page, without secrets of the gateway such as `RPC_URL`.
 */
function pageConfigOf(
  { baseUrl, publicRpcUrls, ipfsGateways, maxHeadAge, liveChains }: Config,
  registry: RegistryId,
): PageConfig {
  return {
    registry,
    rpc: publicRpcUrls.length > 0 ? publicRpcUrls : [`${baseUrl}/rpc`],
    ipfs: [baseUrl, ...ipfsGateways],
    service: baseUrl,
    liveChains,
    ...(maxHeadAge !== undefined && { maxHeadAge }),
  }
}
