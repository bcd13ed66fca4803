import { createDeadline, type NewDeadline } from '#base/deadline.ts'
import { describeBug, type Log } from '#base/log.ts'
import { openWithNode } from '#base/node-crypto.ts'
import type { Addresses } from '#http/resources/present.ts'
import type { Config } from '#settings/config.ts'
import { networkOf } from '#verifier/network.ts'
import type { BlockSource } from '#verifier/ports.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import { createIpfsGatewaySource } from '#verifier/readers/ipfs-gateway.ts'
import type { VerifyOptions } from '#verifier/verify.ts'
import type { Identity, Readers } from './chain.ts'
import type { Identities } from './identity.ts'
import type { Stores } from './stores.ts'

type Parts = { readers: Readers; identities: Identities; stores: Stores; log: Log }

/** What verdicts need, for the core and for modules. */
export type Verifying = {
  blocks: readonly BlockSource[]
  verifyOptions: VerifyOptions
  newDeadline: NewDeadline
  addresses: Addresses
}

export function openVerifying(
  config: Config,
  { registry, issuerId }: Pick<Identity, 'registry' | 'issuerId'>,
  parts: Parts,
): Verifying {
  const blocks = sourcesOf(config, parts.stores)
  return {
    blocks,
    verifyOptions: verifyOptionsOf(config, parts, blocks),
    // With a wait of 0 s, a request still has to read the chain.
    newDeadline: () => createDeadline(config.wait || config.rpcTimeout),
    addresses: {
      baseUrl: config.baseUrl,
      verifyUrl: config.verifyUrl,
      registry,
      issuerId,
      network: networkOf(parseRegistry(registry).chainId, config.liveChains),
    },
  }
}

function verifyOptionsOf(
  { maxHeadAge }: Config,
  { readers, identities, stores, log }: Parts,
  blocks: readonly BlockSource[],
): VerifyOptions {
  return {
    blocks,
    chain: readers.grouped,
    opener: openWithNode,
    opened: stores.opened,
    identity: identities.source,
    finality: true,
    onError: (error) => log.error('content_unreadable', describeBug(error)),
    ...(maxHeadAge !== undefined && { maxHeadAge }),
  }
}

/** @returns The sources of payloads, with the gateway's store first. */
function sourcesOf(
  { ipfsGateways, ipfsTimeout }: Config,
  { store, tombstones }: Stores,
): BlockSource[] {
  return [
    store,
    ...ipfsGateways.map((url) => tombstones.guardSource(createIpfsGatewaySource(url, ipfsTimeout))),
  ]
}
