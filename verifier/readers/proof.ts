import { FormatError } from '../../document/errors.ts'
import { type Hex, toHex } from '../../document/hex.ts'
import { ChainError } from '../errors.ts'
import type {
  ChainReader,
  ChainReading,
  Eip1193Provider,
  ReadOptions,
} from '../ports.ts'
import { decodeHeader, encodeHeader } from '../proof/header.ts'
import { invalid, readProof } from '../proof/invalid.ts'
import { slotsOf } from '../proof/slots.ts'
import {
  readStateProof,
  type SlotProof,
  type StateProof,
} from '../proof/state-proof.ts'
import { EMPTY_TRIE } from '../proof/trie.ts'
import {
  createChainReader,
  createRequest,
  parseRegistry,
  type Request,
  readStrictly,
} from './chain.ts'
import { readBytes, readList, readObject, toQuantity } from './rpc-codec.ts'

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
  const { blockNumber } = readProof(() => decodeHeader(header))
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
    [address, slotsOf(documentHash, reading), toQuantity(blockNumber)],
    signal,
  ).catch((error) => {
    throw unavailable(error)
  })
  const proof = { header, ...readProof(() => readAnswer(answer)) }
  readStateProof(proof, registry, documentHash)
  return proof
}

/** A chain reader each of whose readings is proven to be of a block, by its hash. Events and finality are read as elsewhere. */
export function createProvingReader(
  provider: Eip1193Provider,
  registry: string,
): ChainReader {
  return {
    ...createChainReader(provider, registry),
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
  const method = 'eth_getBlockByNumber'
  const tag = number === undefined ? 'latest' : toQuantity(number)
  const answer = await request(method, [tag, false], signal)
  if (answer === null)
    throw new ChainError(
      'state_unavailable',
      `the node has no block ${number ?? tag}`,
    )
  const block = readStrictly(method, () => readObject(answer))
  const known = encodeHeader(block)
  if (known !== undefined) return known
  // A fork or a chain with fields that this program does not know: some nodes give the bytes themselves.
  const raw = await request('debug_getRawHeader', [block.number], signal).catch(
    () => undefined,
  )
  const header = rawHeaderOf(raw, block)
  if (header !== undefined) return header
  throw new ChainError(
    'proof_unavailable',
    'the block has a header with unknown fields',
  )
}

/** @returns The header in an answer; `undefined` when it is not the one that the block's hash is of. */
function rawHeaderOf(
  answer: unknown,
  block: Record<string, unknown>,
): Hex | undefined {
  try {
    const header = toHex(readBytes(answer))
    return decodeHeader(header).blockHash === block.hash ? header : undefined
  } catch (error) {
    if (error instanceof FormatError) return undefined
    throw error
  }
}

/** An error is a node without `eth_getProof`, or without the state: either way without the proof. */
function unavailable(error: unknown): unknown {
  if (!(error instanceof ChainError) || error.code !== 'rpc_error') return error
  return new ChainError('proof_unavailable', error.message, error)
}

/** Nodes write keys, values and proofs of empty tries in more than one way; here there is one. */
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

/** @param value Of up to 32 bytes, with leading zeros or without. */
function toWord(value: unknown): Hex {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{0,64}$/.test(value))
    throw invalid('not a word')
  return `0x${value.slice(2).padStart(64, '0')}`
}

function readNodes(proof: unknown): Hex[] {
  const nodes = readList(proof, readBytes)
  const [root = new Uint8Array(), ...others] = nodes
  if (nodes.length === 0 || (nodes.length === 1 && toHex(root) === EMPTY_TRIE))
    return []
  // Those under 32 bytes stand in their parents; some nodes list them again.
  return [root, ...others.filter(({ length }) => length >= 32)].map(toHex)
}
