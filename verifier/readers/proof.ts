import type { Hex } from '../../document/hex.ts'
import { fromHex } from '../../document/hex.ts'
import { ChainError } from '../errors.ts'
import type {
  ChainReader,
  ChainReading,
  Eip1193Provider,
  ReadOptions,
} from '../ports.ts'
import { decodeHeader, encodeHeader } from '../proof/header.ts'
import { invalid } from '../proof/invalid.ts'
import { slotsOf } from '../proof/slots.ts'
import {
  readStateProof,
  type SlotProof,
  type StateProof,
} from '../proof/state-proof.ts'
import { EMPTY_TRIE } from '../proof/trie.ts'
import { createChainReader, parseRegistry, quantity } from './chain.ts'
import type { FinalityRule } from './finality.ts'
import { createRequest, type Request } from './request.ts'

/** A block by its number; the newest if absent. */
type AtBlock = ReadOptions & { block?: number | undefined }

/**
 * Reads a record with its proof: one block header, one `eth_call` to learn which slots count, one `eth_getProof`. What comes back
 * has been checked against the header; whether that is a block of the chain is for its reader to know.
 *
 * @param registry CAIP-10.
 * @throws {ChainError} as a chain reader, and `proof_unavailable`, `proof_invalid`, `no_registry`.
 */
export async function fetchProof(
  provider: Eip1193Provider,
  registry: string,
  documentHash: Hex,
  options: AtBlock = {},
): Promise<StateProof> {
  const request = createRequest(provider)
  const header = await fetchHeader(request, options)
  const { blockNumber } = decodeHeader(header)
  const { block = blockNumber, signal } = options
  if (blockNumber !== block)
    throw new ChainError(
      'state_unavailable',
      `answered with block ${blockNumber}, not ${block}`,
    )
  const reading = await createChainReader(provider, registry).read(
    documentHash,
    { block: blockNumber, signal },
  )
  const { address } = parseRegistry(registry)
  const answer = await request(
    'eth_getProof',
    [address, slotsOf(documentHash, reading), quantity(blockNumber)],
    signal,
  ).catch((error) => {
    throw unavailable(error)
  })
  const proof = { header, ...readAnswer(answer) }
  readStateProof(proof, registry, documentHash)
  return proof
}

/** A chain reader each of whose readings is proven to be of a block, by its hash. Events and finality are read as elsewhere. */
export function createProvingReader(
  provider: Eip1193Provider,
  registry: string,
  rule?: FinalityRule,
): ChainReader {
  return {
    ...createChainReader(provider, registry, rule),
    async read(documentHash, options): Promise<ChainReading> {
      const read = () => fetchProof(provider, registry, documentHash, options)
      // Between header and proof the chain may have taken another way: then both are fetched anew, once.
      const stateProof = await read().catch((error) => {
        if (error instanceof ChainError && error.code === 'proof_invalid')
          return read()
        throw error
      })
      return {
        ...readStateProof(stateProof, registry, documentHash),
        stateProof,
      }
    },
  }
}

async function fetchHeader(
  request: Request,
  { block: number, signal }: AtBlock,
): Promise<Hex> {
  const tag = number === undefined ? 'latest' : quantity(number)
  const block = await request('eth_getBlockByNumber', [tag, false], signal)
  if (typeof block !== 'object' || block === null)
    throw new ChainError(
      'state_unavailable',
      `the node has no block ${number ?? tag}`,
    )
  const known = encodeHeader(block as Record<string, unknown>)
  if (known !== undefined) return known
  // A fork or a chain with fields that this program does not know: some nodes give the bytes themselves.
  const raw = await request(
    'debug_getRawHeader',
    [(block as { number?: unknown }).number],
    signal,
  ).catch(() => undefined)
  if (isHex(raw) && sameHash(raw, block)) return raw
  throw new ChainError(
    'proof_unavailable',
    'the block has a header with unknown fields',
  )
}

function sameHash(header: Hex, block: { hash?: unknown }): boolean {
  try {
    return decodeHeader(header).blockHash === block.hash
  } catch {
    return false
  }
}

/** An error is a node without `eth_getProof`, or without the state: either way without the proof. */
function unavailable(error: unknown): unknown {
  if (!(error instanceof ChainError) || error.code !== 'rpc_error') return error
  return new ChainError('proof_unavailable', error.message, error)
}

/** Nodes write keys, values and proofs of empty tries in more than one way; here there is one. */
function readAnswer(answer: unknown): Omit<StateProof, 'header'> {
  const { accountProof, storageProof } = (answer ?? {}) as Record<
    string,
    unknown
  >
  if (!Array.isArray(storageProof)) throw invalid('not an answer')
  return {
    accountProof: nodesOf(accountProof),
    storageProof: storageProof.map(
      (slot): SlotProof => ({
        key: toWord(slot?.key),
        value: toWord(slot?.value),
        proof: nodesOf(slot?.proof),
      }),
    ),
  }
}

function toWord(value: unknown): Hex {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{0,64}$/i.test(value))
    throw invalid('not a word')
  return `0x${value.slice(2).toLowerCase().padStart(64, '0')}`
}

function nodesOf(proof: unknown): Hex[] {
  if (!Array.isArray(proof) || !proof.every(isHex)) throw invalid('not nodes')
  const nodes = proof.map((node) => node.toLowerCase() as Hex)
  if (nodes.length === 1 && nodes[0] === EMPTY_TRIE) return []
  // Those under 32 bytes stand in their parents; some nodes list them again.
  return nodes.filter((node, i) => i === 0 || fromHex(node).length >= 32)
}

function isHex(value: unknown): value is Hex {
  return typeof value === 'string' && /^0x(?:[0-9a-f]{2})+$/i.test(value)
}
