import { sha256 } from '@noble/hashes/sha2.js'
import { equalBytes } from '../document/bytes.ts'
import { cidOf } from '../document/cid.ts'
import { fromHex, type Hex } from '../document/hex.ts'
import {
  type BlockSource,
  type ChainReader,
  type Check,
  createBundle,
  createChainReader,
  createFetchProvider,
  createIpfsGatewaySource,
  createQuorumReader,
  readBundle,
  type Verdict,
  verify,
  verifyBundle,
} from '../verifier/index.ts'
import { toQuantity } from '../verifier/readers/rpc-codec.ts'
import { headAgeOf, type Sources } from './config.ts'
import { type Findings, weigh } from './findings.ts'
import type { Subject } from './input.ts'

/** Seconds that one answer may take. */
const PATIENCE = 15

type Watch = { onCheck: (check: Check) => void; signal: AbortSignal }

/**
 * Has the library check what the reader gave, from the sources that the reader trusts. The nodes are asked
 * about a proof file's document too.
 *
 * @param watch.onCheck Told of each check of the nodes' answer as soon as it is done.
 * @throws The signal's reason, once it aborts.
 */
export async function check(
  subject: Subject,
  sources: Sources,
  watch: Watch,
): Promise<Findings> {
  const { bundle, trustedBlock } = subject
  if (bundle === undefined)
    return { verdict: await checkNow(subject, sources, watch), live: true }
  const [statement, attempt] = await Promise.all([
    checkBundle(bundle, trustedBlock, sources, watch.signal),
    sources.rpc.length > 0 ? checkNow(subject, sources, watch) : undefined,
  ])
  return weigh(statement, attempt)
}

/** @returns How many of so many nodes must give the same answer: more than half; of two, both. */
export function quorumOf(nodes: number): number {
  return Math.floor(nodes / 2) + 1
}

function checkNow(
  { publicId, carried }: Subject,
  sources: Sources,
  watch: Watch,
): Promise<Verdict> {
  const maxHeadAge = headAgeOf(sources)
  return verify(publicId, {
    chain: readerOf(sources),
    blocks: blocksOf(sources, carried),
    ...(maxHeadAge !== undefined && { maxHeadAge }),
    ...watch,
  })
}

function patienceOf({ timeout = PATIENCE }: Sources): number {
  return timeout * 1000
}

function readerOf(sources: Sources): ChainReader {
  const { registry, rpc } = sources
  const readers = rpc.map((url) =>
    createChainReader(createFetchProvider(url, patienceOf(sources)), registry),
  )
  const [only] = readers
  return only && readers.length === 1
    ? only
    : createQuorumReader(readers, quorumOf(readers.length))
}

/** @param carried What a proof file carries: it comes first, costs nothing and tells no gateway. */
function blocksOf(sources: Sources, carried: string[] = []): BlockSource[] {
  const gateways = sources.ipfs.map((url) =>
    createIpfsGatewaySource(url, patienceOf(sources)),
  )
  return carried.length > 0 ? [carriedSource(carried), ...gateways] : gateways
}

function carriedSource(carried: string[]): BlockSource {
  const blocks = carried.map((text) => new TextEncoder().encode(text))
  return {
    async get(hash) {
      const bytes = blocks.find((block) => equalBytes(sha256(block), hash))
      return bytes ? { status: 'found', bytes } : { status: 'missing' }
    },
  }
}

/** A proof file is worth what its block is worth: the reader says that it is one of the chain, or the nodes do. */
async function checkBundle(
  text: string,
  trustedBlock: Hex | undefined,
  sources: Sources,
  signal: AbortSignal,
): Promise<Verdict> {
  const { bundle, block } = readBundle(text)
  const confirmed =
    trustedBlock === undefined && (await isOfChain(block, sources, signal))
  signal.throwIfAborted()
  const trustedBlocks = [
    ...(trustedBlock ? [trustedBlock] : []),
    ...(confirmed ? [block.blockHash] : []),
  ]
  const { registry } = sources
  return verifyBundle(bundle, { registry, trustedBlocks })
}

/** @returns Whether so many nodes as must agree have this block in their chain, and that is the registry's. */
async function isOfChain(
  { blockNumber, blockHash }: { blockNumber: number; blockHash: Hex },
  sources: Sources,
  signal: AbortSignal,
): Promise<boolean> {
  const { registry, rpc } = sources
  const chainId = Number(registry.split(':')[1])
  const confirms = async (url: string) => {
    const { request } = createFetchProvider(url, patienceOf(sources))
    const [id, block] = await Promise.all([
      request({ method: 'eth_chainId', signal }),
      request({
        method: 'eth_getBlockByNumber',
        params: [`0x${blockNumber.toString(16)}`, false],
        signal,
      }),
    ])
    const { hash } = (block ?? {}) as { hash?: string }
    return id === toQuantity(chainId) && hash === blockHash
  }
  const answers = await Promise.all(
    rpc.map((url) => confirms(url).catch(() => false)),
  )
  return answers.filter((yes) => yes).length >= quorumOf(rpc.length)
}

/**
 * Makes a proof file of what the registry says now.
 *
 * @returns Its text; `undefined` when no node gives the proof.
 */
export async function makeBundle(
  { publicId, carried }: Subject,
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
export async function saysErased(
  service: string,
  documentHash: Hex,
): Promise<boolean> {
  const hash = fromHex(documentHash)
  try {
    const { status } = await fetch(
      `${service}/ipfs/${cidOf(hash)}?format=raw`,
      { method: 'HEAD', signal: AbortSignal.timeout(PATIENCE * 1000) },
    )
    return status === 410
  } catch {
    return false
  }
}
