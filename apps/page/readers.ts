import { sha256 } from '@noble/hashes/sha2.js'
import { encodeUtf8, equalBytes } from '#document/bytes.ts'
import { cidOf } from '#document/cid.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import { parseRegistryId, type RegistryId } from '#document/registry-id.ts'
import { majorityOf } from '#verifier/defaults.ts'
import {
  type BlockSource,
  type ChainReader,
  createBundle,
  createChainReader,
  createFetchProvider,
  createIpfsGatewaySource,
  createQuorumReader,
} from '#verifier/index.ts'
import type { Sources } from './config.ts'
import type { DocumentSubject } from './input.ts'

const REQUEST_TIMEOUT_SECONDS = 15

/** @returns Timeout of a request in milliseconds. */
export function patienceOf({ timeout = REQUEST_TIMEOUT_SECONDS }: Sources): number {
  return timeout * 1000
}

/** @throws {FormatError} `registry_malformed` until the reader has chosen a registry. */
export function registryOf({ registry }: Pick<Sources, 'registry'>): RegistryId {
  return parseRegistryId(registry).registry
}

export function readerOf(sources: Sources): ChainReader {
  const { rpc } = sources
  const registry = registryOf(sources)
  const readers = rpc.map((url) =>
    createChainReader(createFetchProvider(url, patienceOf(sources)), registry),
  )
  const [only] = readers
  return only && readers.length === 1
    ? only
    : createQuorumReader(readers, majorityOf(readers.length))
}

/**
 * @param carried The contents of a proof file, which are read first, because that needs no request
 * and reveals nothing.
 */
export function blocksOf(sources: Sources, carried: string[] = []): BlockSource[] {
  const gateways = sources.ipfs.map((url) => createIpfsGatewaySource(url, patienceOf(sources)))
  return carried.length > 0 ? [carriedSource(carried), ...gateways] : gateways
}

function carriedSource(carried: string[]): BlockSource {
  const blocks = carried.map((text) => encodeUtf8(text))
  return {
    async get(hash) {
      const bytes = blockWith(hash, blocks)
      return bytes ? { status: 'found', bytes } : { status: 'missing' }
    },
  }
}

/** @returns The block with this sha-256. */
export function blockWith(hash: Uint8Array, blocks: readonly Uint8Array[]): Uint8Array | undefined {
  return blocks.find((block) => equalBytes(sha256(block), hash))
}

/**
 * Makes a proof file of the registry's current state.
 *
 * @returns Its text; `undefined` when no node returns a proof.
 */
export async function makeBundle(
  { publicId, carried }: DocumentSubject,
  sources: Sources,
): Promise<string | undefined> {
  for (const url of sources.rpc) {
    const bundle = await createBundle(publicId, {
      provider: createFetchProvider(url, patienceOf(sources)),
      registry: registryOf(sources),
      blocks: blocksOf(sources, carried),
    }).catch(() => undefined)
    if (bundle) return JSON.stringify(bundle)
  }
  return undefined
}

/** @returns Whether a service claims that it has erased the content, which proves nothing. */
export async function saysErased(service: string, documentHash: Hex): Promise<boolean> {
  const hash = fromHex(documentHash)
  try {
    const { status } = await fetch(`${service}/ipfs/${cidOf(hash)}?format=raw`, {
      method: 'HEAD',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_SECONDS * 1000),
    })
    return status === 410
  } catch {
    return false
  }
}

/** How a credential names its issuer, because some wallets know only one of the two. */
export type OfferForm = 'https' | 'did:web'

/** @returns The form that an offer is not in. */
export function otherFormOf(offer: { credential_configuration_ids: string[] }): OfferForm {
  return offer.credential_configuration_ids[0]?.endsWith('-did-web') ? 'https' : 'did:web'
}

/**
 * @param iss The form of the credential; absent = as suits the service.
 * @returns A link that opens a wallet with an offer, and the form that it is not in; `undefined`
 * when there is none.
 */
export async function askForOffer(
  service: string,
  publicId: string,
  iss: OfferForm | undefined,
): Promise<{ link: string; other: OfferForm } | undefined> {
  try {
    const response = await fetch(`${service}/wallets/offers`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ publicId, iss }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_SECONDS * 1000),
    })
    if (!response.ok) return undefined
    const { link, offer } = (await response.json()).data
    // Nothing else may come from a service into a link that people press.
    if (!String(link).startsWith('openid-credential-offer://')) return undefined
    return { link, other: otherFormOf(offer) }
  } catch {
    return undefined
  }
}
