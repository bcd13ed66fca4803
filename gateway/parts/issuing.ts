import { clock } from '#base/clock.ts'
import { shareRead } from '#base/concurrency.ts'
import { groupReads } from '#base/grouping.ts'
import type { Log } from '#base/log.ts'
import { createMetrics, type Metrics } from '#base/metrics.ts'
import { hkdfWithNode, hmacWithNode, sealWithNode } from '#base/node-crypto.ts'
import { FormatError } from '#document/errors.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import { readSealedHeader } from '#document/sealed.ts'
import { type BlockTime, createBlockTime } from '#engine/block-time.ts'
import { type Action, keyOfAction } from '#promise/action.ts'
import type { Outcome } from '#promise/anchoring.ts'
import { createErasing, type Erasing } from '#promise/erase.ts'
import { createIssuing, type Issuing } from '#promise/issue.ts'
import { outcomeOf, outcomesOf } from '#promise/outcome.ts'
import type { Head, Readiness, RegistryReader } from '#promise/ports.ts'
import type { RecordKey, TrustedRecord } from '#promise/record.ts'
import { createRevising, type Revising } from '#promise/revise.ts'
import { createSealing } from '#promise/sealing.ts'
import { createSuperseding, type Superseding } from '#promise/supersede.ts'
import { createTimes, type Times } from '#promise/times.ts'
import type { Config } from '#settings/config.ts'
import { subkeysOf } from '#settings/secrets.ts'
import type { ChainReader } from '#verifier/ports.ts'
import type { Chain, Identity, Readers } from './chain.ts'
import { type GatewayLeader, openLeader } from './leader.ts'
import type { Ports } from './ports.ts'
import type { Stores } from './stores.ts'

/** The route is public, so scrapes share a reading of the chain. */
const HEAD_AGE_TTL_MS = 1_000

/** The maximum number of records in one lookup call, and of calls at the same time. */
const LOOK_UPS = { maxKeys: 200, maxCalls: 2 }

/** The parts between a request and the chain. */
export type IssuingParts = {
  metrics: Metrics
  times: Pick<Times, 'final'>
  /** The readiness of the account that gets this gateway's actions. */
  readiness: () => Promise<Readiness>
  /** Seconds since the newest block; negative when the clock is behind the chain. */
  headAge: () => Promise<number>
  blockTime: Pick<BlockTime, 'interval' | 'look'>
  leader: GatewayLeader
  issuing: Issuing
  revising: Revising
  superseding: Superseding
  erasing: Erasing
}

/**
 * @param parts.readers Readers of the registry for requests; `chain` writes to it.
 * @param parts.ports Those of modules, which are opened later.
 */
export function openIssuing(
  config: Config,
  identity: Identity,
  parts: { chain: Chain; readers: Readers; stores: Stores; ports: Ports; log: Log },
): IssuingParts {
  const { chain, readers, stores, ports, log } = parts
  const { registry, blocks } = chain
  const { issuerId } = identity
  const headAge = shareRead(async () => headAgeOf(await blocks.head()), HEAD_AGE_TTL_MS)
  const metrics = createMetrics({
    depth: () => leader.depth(),
    balance: async () => (await readiness()).balance,
    spentLastHour: () => leader.spentLastHour(),
    stopped: () => leader.stopped(),
    headAge,
    unfinishedErasures: async () => (await stores.erasures.unfinished()).length,
    mirrorLag: stores.mirrorLag,
    feeCaps: config.feeCaps,
    async webhookBacklog() {
      if (!ports.webhookBacklog) throw new Error('webhooks are off')
      return ports.webhookBacklog()
    },
    rpcCalls: identity.rpc.sent,
  })
  const times = createTimes(metrics)
  const { outbox, shared } = stores
  const blockTime = createBlockTime(blocks)
  const { leader, readiness } = openLeader(config, identity, {
    shared,
    outbox,
    loss: stores.loss,
    blockTime,
    outcomeOf: (action) => outcomeOf(registry, action),
    requested: times.requested,
    planned: metrics.planned,
    concluded: times.concluded,
    foundForeign: metrics.foundForeign,
    log,
  })
  const common = { issuerId, outbox, leader, log }
  const revising = createRevising({
    ...common,
    chain: readers.grouped,
    registry: { ...registry, records: groupRecords(registry) },
  })
  const issuing = createIssuing({
    ...common,
    registryId: identity.registry,
    outcomeOf: groupOutcomes(registry),
    chain: readers.chain,
    payloads: stores.embedded,
    isErased: stores.isErased,
    sealing: createSealing({
      subkeys: subkeysOf(identity.issuerSecrets),
      requests: stores.requests,
      seal: sealWithNode,
      hkdf: hkdfWithNode,
      hmac: hmacWithNode,
    }),
    history: stores.history,
  })
  const superseding = createSuperseding({
    ...common,
    chain: readers.chain,
    registry,
    issuing,
    revising,
    successions: stores.successions,
    readiness,
  })
  const erasing = openErasing(issuerId, { reader: readers.chain, stores, log })
  const promises = { issuing, revising, superseding, erasing }
  return { leader, readiness, ...promises, metrics, times, blockTime, headAge }
}

/**
 * Groups the lookups, because thousands of requests with idempotency keys each look for their
 * document.
 */
function groupOutcomes(registry: RegistryReader): (action: Action) => Promise<Outcome> {
  return groupReads<Action, Outcome>({
    ...LOOK_UPS,
    idOf: keyOfAction,
    readMany: (actions) => outcomesOf(registry, actions),
    readOne: (action) => outcomeOf(registry, action),
  })
}

/**
 * Groups the reads, because thousands of changes each read the records of a document and of its
 * batch.
 */
function groupRecords({ records }: RegistryReader): RegistryReader['records'] {
  const read = groupReads<RecordKey, TrustedRecord>({
    ...LOOK_UPS,
    idOf: ({ documentHash, root = '' }) => documentHash + root,
    readMany: (keys) => records(keys),
    async readOne(key) {
      const [record] = await records([key])
      if (record === undefined)
        throw new TypeError('the registry must return a record for each key')
      return record
    },
  })
  return (keys) => Promise.all(keys.map((key) => read(key)))
}

function headAgeOf({ timestamp }: Head): number {
  return clock.wall() / 1000 - timestamp
}

function openErasing(
  issuerId: number,
  { reader, stores, log }: { reader: ChainReader; stores: Stores; log: Log },
): Erasing {
  const { store, outbox, kubo, erasures, opened } = stores

  async function hasSealed(documentHash: Hex): Promise<boolean> {
    const block = await store.get(fromHex(documentHash))
    return block.status === 'found' && isSealed(block.bytes)
  }

  return createErasing({
    erasures,
    removeFromKubo: async (hash) => (await kubo?.erase(fromHex(hash))) ?? false,
    isKnown: async (key) =>
      key.issuerId === issuerId &&
      ((await outbox.find('issue', key.documentHash)) !== undefined ||
        (await hasSealed(key.documentHash)) ||
        (await reader.read(key)).record.anchoredBlock !== 0),
    forget: opened.clear,
    log,
  })
}

/** Batch blocks and manifests are in the same store. */
function isSealed(bytes: Uint8Array): boolean {
  try {
    readSealedHeader(bytes)
    return true
  } catch (error) {
    if (error instanceof FormatError) return false
    throw error
  }
}
