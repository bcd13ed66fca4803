import { FormatError } from '../../document/errors.ts'
import { fromHex, type Hex, toHex } from '../../document/hex.ts'
import type { RegistryId } from '../../document/registry-id.ts'
import type { SlotProof, StateProof } from '../../document/state-proof.ts'
import { ChainError } from '../errors.ts'
import type {
  ChainReader,
  ChainReading,
  DocumentKey,
  Eip1193Provider,
  ReadOptions,
} from '../ports.ts'
import { decodeHeader, encodeHeader } from '../proof/header.ts'
import { invalid, readProof } from '../proof/invalid.ts'
import { decidingSlotsOf, slotsOf } from '../proof/slots.ts'
import { readStateProof } from '../proof/state-proof.ts'
import { EMPTY_TRIE } from '../proof/trie.ts'
import { createChainReader, parseRegistry, stateError } from './chain.ts'
import type { FinalityRule } from './finality.ts'
import { createRequest, type Request, readStrictly } from './request.ts'
import { readBytes, readList, readObject, toQuantity } from './rpc-codec.ts'

/** A block by its number; absent = the newest block. */
type AtBlock = ReadOptions & { block?: number | undefined }

/** The number of attempts, because nodes keep few states and a busy chain soon moves past them. */
const MAX_ATTEMPTS = 5

/**
 * Reads a record with its proof: one `eth_call` to find the slots, then the block's header and one
 * `eth_getProof`. The result is checked against the header; the reader must decide whether to trust
 * the hash of that header.
 *
 * @param registry A CAIP-10 account ID.
 * @throws {ChainError} as a chain reader, and `proof_unavailable`, `proof_invalid`, `no_registry`.
 *
 * @example
 * ```ts
 * const provider = createFetchProvider('https://rpc.example')
 * const key = { issuerId: 1, documentHash: toHex(decodePublicId(publicId).hash) }
 * const proof = await fetchProof(provider, registry, key)
 * readStateProof(proof, registry, key).status // => 'valid'
 * ```
 */
export async function fetchProof(
  provider: Eip1193Provider,
  registry: RegistryId,
  key: DocumentKey,
  options: AtBlock = {},
): Promise<StateProof> {
  const reading = await proveReading(provider, registry, key, options)
  return reading.stateProof
}

type ProvenReading = ChainReading & { stateProof: StateProof }

async function proveReading(
  provider: Eip1193Provider,
  registry: RegistryId,
  key: DocumentKey,
  options: AtBlock,
): Promise<ProvenReading> {
  const request = createRequest(provider)
  const { address } = parseRegistry(registry)
  const { signal } = options
  const chain = createChainReader(provider, registry)
  const believed = await chain.read(key, options)
  const { blockNumber } = believed
  const at = { block: blockNumber, signal }
  const [header, proofs] = await Promise.all([
    fetchHeader(request, blockNumber, signal),
    fetchDeciding(request, address, decidingSlotsOf(key, believed), at).then((deciding) =>
      fetchSlots(request, address, slotsOf(key, believed, deciding), at),
    ),
  ])
  const stateProof = { header, ...proofs }
  const proven = readStateProof(stateProof, registry, key)
  if (proven.blockNumber !== blockNumber)
    throw new ChainError(
      'state_unavailable',
      `the node returned a proof for block ${proven.blockNumber}, not ${blockNumber}`,
    )
  return { ...proven, stateProof }
}

/** @returns The unchecked values of slots. Wrong values lead to a proof that does not hold. */
async function fetchDeciding(
  request: Request,
  address: Hex,
  slots: readonly Hex[],
  at: { block: number; signal?: AbortSignal | undefined },
): Promise<Map<Hex, bigint>> {
  if (slots.length === 0) return new Map()
  const { storageProof } = await fetchSlots(request, address, slots, at)
  return new Map(storageProof.map(({ key, value }) => [key, BigInt(value)]))
}

/**
 * A chain reader that proves every reading against a block hash. Events and finality come without
 * proof.
 *
 * Starts a reading again when the chain moves on meanwhile, up to five times in all, at the then
 * newest block or at the requested one.
 *
 * @example
 * ```ts
 * const provider = createFetchProvider('https://rpc.example')
 * const chain = createProvingReader(provider, registry)
 * const blocks = [createIpfsGatewaySource('https://ipfs.example')]
 * const { asOf } = await verify(publicId, { chain, blocks })
 * asOf.blockHash.length // => 66
 * ```
 */
export function createProvingReader(
  provider: Eip1193Provider,
  registry: RegistryId,
  rule?: FinalityRule,
): ChainReader {
  return {
    ...createChainReader(provider, registry, rule),
    read: (key, options = {}): Promise<ProvenReading> =>
      unlessOvertaken(options, () => proveReading(provider, registry, key, options)),
  }
}

/**
 * Repeats work when the chain moves on meanwhile, up to five times in all.
 *
 * @param work Reads at the requested block, or at the newest.
 */
export async function unlessOvertaken<T>(options: AtBlock, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isOvertaken(error, options)) throw error
    }
  }
}

/** @returns Whether another attempt may succeed, on another branch or at a newer block. */
function isOvertaken(error: unknown, { block }: AtBlock): boolean {
  if (!(error instanceof ChainError)) return false
  const { code } = error
  if (code === 'proof_invalid') return true
  return code === 'state_unavailable' && block === undefined
}

/**
 * @returns The result of `eth_getProof`, unchecked.
 * @throws {ChainError} `proof_unavailable`, `proof_invalid`, `state_unavailable`, `rpc_unreachable`
 */
async function fetchSlots(
  request: Request,
  address: Hex,
  slots: readonly Hex[],
  { block, signal }: { block: number; signal?: AbortSignal | undefined },
): Promise<Omit<StateProof, 'header'>> {
  const params = [address, slots, toQuantity(block)]
  const answer = await request('eth_getProof', params, signal).catch((error) => {
    throw unavailable(error, block)
  })
  return readProof(() => readAnswer(answer))
}

/**
 * @returns The nodes of `eth_getProof` for many slots, each once, in lower case and otherwise
 * unchecked. Neighbouring slots share most of their nodes.
 * @throws {ChainError} as {@link fetchSlots}.
 */
export async function fetchNodes(
  request: Request,
  address: Hex,
  slots: readonly Hex[],
  { block, signal }: { block: number; signal?: AbortSignal | undefined },
): Promise<{ accountProof: Hex[]; nodes: Hex[] }> {
  const params = [address, slots, toQuantity(block)]
  const answer = await request('eth_getProof', params, signal).catch((error) => {
    throw unavailable(error, block)
  })
  return readProof(() => {
    const { accountProof, storageProof } = readObject(answer)
    const nodes = new Set<Hex>()
    // Comparing with the previous path is cheaper than a lookup in the set, which hashes the text.
    let before: Hex[] = []
    for (const { proof } of readList(storageProof, readObject)) {
      const path = readList(proof, (text) => text as Hex)
      path.forEach((node, depth) => {
        if (node !== before[depth]) nodes.add(node)
      })
      before = path
    }
    return { accountProof: readNodes(accountProof), nodes: Array.from(nodes, readNodeText) }
  })
}

function readNodeText(node: unknown): Hex {
  if (typeof node !== 'string') throw invalid('invalid node')
  return node.toLowerCase() as Hex
}

/**
 * @returns The RLP of a block's header, unchecked.
 * @throws {ChainError} `proof_unavailable`, `state_unavailable`, `rpc_unreachable`
 */
export async function fetchHeader(
  request: Request,
  blockNumber: number,
  signal: AbortSignal | undefined,
): Promise<Hex> {
  const method = 'eth_getBlockByNumber'
  const number = toQuantity(blockNumber)
  const answer = await request(method, [number, false], signal).catch((error) => {
    throw stateError(error, blockNumber)
  })
  if (answer === null)
    throw new ChainError('state_unavailable', `the node has no block ${blockNumber}`)
  const block = readStrictly(method, () => readObject(answer))
  const known = encodeHeader(block)
  if (known !== undefined) return known
  // For a fork or chain with unknown header fields, some nodes return the raw header.
  const raw = await request('debug_getRawHeader', [number], signal).catch(() => undefined)
  const header = rawHeaderOf(raw, block)
  if (header !== undefined) return header
  throw new ChainError('proof_unavailable', 'the block header has unknown fields')
}

/** @returns The header in a result; `undefined` when it does not have the block's hash. */
function rawHeaderOf(answer: unknown, block: Record<string, unknown>): Hex | undefined {
  try {
    const header = toHex(readBytes(answer))
    return decodeHeader(header).blockHash === block.hash ? header : undefined
  } catch (error) {
    if (error instanceof FormatError) return undefined
    throw error
  }
}

/** The node lacks the state of that block, or does not support `eth_getProof`. */
function unavailable(error: unknown, block: number): unknown {
  const known = stateError(error, block)
  if (!(known instanceof ChainError) || known.code !== 'rpc_error') return known
  return new ChainError('proof_unavailable', known.message, known)
}

/** Normalizes keys, values and proofs of empty tries, which nodes encode in several ways. */
function readAnswer(answer: unknown): Omit<StateProof, 'header'> {
  const { accountProof, storageProof } = readObject(answer)
  return {
    accountProof: readNodes(accountProof),
    storageProof: readList(storageProof, readSlotProof),
  }
}

function readSlotProof(answer: unknown): SlotProof {
  const { key, value, proof } = readObject(answer)
  return { key: toWord(key), value: toWord(value), proof: readNodes(proof) }
}

/** @param value Up to 32 bytes, with leading zeros or without. */
function toWord(value: unknown): Hex {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{0,64}$/i.test(value))
    throw invalid('invalid 32-byte word')
  return `0x${value.slice(2).toLowerCase().padStart(64, '0')}`
}

function readNodes(proof: unknown): Hex[] {
  const nodes = readList(proof, (node) => fromHex(node as Hex))
  const [root = new Uint8Array(), ...others] = nodes
  if (nodes.length === 0 || (nodes.length === 1 && toHex(root) === EMPTY_TRIE)) return []
  // Nodes under 32 bytes are inside their parents; some Ethereum nodes also list them.
  return [root, ...others.filter(({ length }) => length >= 32)].map(toHex)
}
