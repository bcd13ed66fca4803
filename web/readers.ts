import { sha256 } from '@noble/hashes/sha2.js'
import { equalBytes } from '../document/bytes.ts'
import { cidOf } from '../document/cid.ts'
import { fromHex, type Hex } from '../document/hex.ts'
import {
  type BlockSource,
  type ChainReader,
  createBundle,
  createChainReader,
  createFetchProvider,
  createIpfsGatewaySource,
  createQuorumReader,
} from '../verifier/index.ts'
import type { Sources } from './config.ts'
import type { DocumentSubject } from './input.ts'

/** Seconds that one answer may take. */
const PATIENCE = 15

/** @returns How many of so many nodes must give the same answer: more than half; of two, both. */
export function quorumOf(nodes: number): number {
  return Math.floor(nodes / 2) + 1
}

/** @returns Milliseconds that one answer may take. */
export function patienceOf({ timeout = PATIENCE }: Sources): number {
  return timeout * 1000
}

export function readerOf(sources: Sources): ChainReader {
  const { registry, rpc } = sources
  const readers = rpc.map((url) =>
    createChainReader(createFetchProvider(url, patienceOf(sources)), registry),
  )
  const [only] = readers
  return only && readers.length === 1 ? only : createQuorumReader(readers, quorumOf(readers.length))
}

/** @param carried What a proof file carries: it comes first, costs nothing and tells no gateway. */
export function blocksOf(sources: Sources, carried: string[] = []): BlockSource[] {
  const gateways = sources.ipfs.map((url) => createIpfsGatewaySource(url, patienceOf(sources)))
  return carried.length > 0 ? [carriedSource(carried), ...gateways] : gateways
}

function carriedSource(carried: string[]): BlockSource {
  const blocks = carried.map((text) => new TextEncoder().encode(text))
  return {
    async get(hash) {
      const bytes = blockWith(hash, blocks)
      return bytes ? { status: 'found', bytes } : { status: 'missing' }
    },
  }
}

/** @returns That of these blocks with this sha-256. */
export function blockWith(hash: Uint8Array, blocks: readonly Uint8Array[]): Uint8Array | undefined {
  return blocks.find((block) => equalBytes(sha256(block), hash))
}

/**
 * Makes a proof file of what the registry says now.
 *
 * @returns Its text; `undefined` when no node gives the proof.
 */
export async function makeBundle(
  { publicId, carried }: DocumentSubject,
  sources: Sources,
): Promise<string | undefined> {
  for (const url of sources.rpc) {
    const bundle = await createBundle(publicId, {
      provider: createFetchProvider(url, patienceOf(sources)),
      registry: sources.registry,
      blocks: blocksOf(sources, carried),
    }).catch(() => undefined)
    if (bundle) return JSON.stringify(bundle)
  }
  return undefined
}

/** @returns Whether a service says of itself that it has erased the content: a word, and no proof. */
export async function saysErased(service: string, documentHash: Hex): Promise<boolean> {
  const hash = fromHex(documentHash)
  try {
    const { status } = await fetch(`${service}/ipfs/${cidOf(hash)}?format=raw`, {
      method: 'HEAD',
      signal: AbortSignal.timeout(PATIENCE * 1000),
    })
    return status === 410
  } catch {
    return false
  }
}
