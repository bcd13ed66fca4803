import { keccak_256 } from '@noble/hashes/sha3.js'
import { fromHex, type Hex, toHex } from '../../document/hex.ts'
import { parseRegistryId, type RegistryId } from '../../document/registry-id.ts'
import type { SlotProof, StateProof } from '../../document/state-proof.ts'
import { ChainError } from '../errors.ts'
import type { ChainReading, DocumentKey } from '../ports.ts'
import { decodeHeader, type Header } from './header.ts'
import { invalid, readProof } from './invalid.ts'
import { decodeRlp, type RlpItem } from './rlp.ts'
import { readVerification } from './slots.ts'
import { readTrie } from './trie.ts'

/** The keccak256 of no bytes, which is the code hash of an account without code. */
const NO_CODE = toHex(keccak_256(new Uint8Array()))

/**
 * Reads a record from a proof without any request.
 *
 * @param registry A CAIP-10 account ID.
 * @param codeHash The required hash of the registry's code. If absent, any code is accepted: the
 * address is trusted, and the registry at it cannot be upgraded or removed.
 * @returns The registry's answer at that block. The caller must compare `blockHash` with a hash
 * that it trusts.
 * @throws {ChainError} `proof_invalid`, `no_registry`, `other_code`
 * @throws {FormatError} `registry_malformed`
 *
 * @example
 * ```ts
 * const { stateProof } = readBundle(bundle).bundle
 * const key = { issuerId: 1, documentHash: toHex(decodePublicId(publicId).hash) }
 * const { blockHash, record } = readStateProof(stateProof, registry, key)
 * ```
 */
export function readStateProof(
  proof: StateProof,
  registry: RegistryId,
  key: DocumentKey,
  codeHash?: Hex,
): ChainReading & { blockHash: Hex } {
  const { address } = parseRegistryId(registry)
  return readProof(() => readState(proof, address, key, codeHash))
}

function readState(
  proof: StateProof,
  address: Hex,
  key: DocumentKey,
  codeHash: Hex | undefined,
): ChainReading & { blockHash: Hex } {
  const header = decodeHeader(proof.header)
  const storageRoot = readStorageRoot(proof.accountProof, header, address, codeHash)
  if (!Array.isArray(proof.storageProof)) throw invalid('storageProof must be an array')
  const slots = proof.storageProof.values()
  const read = readVerification(
    key,
    (slot) => readSlot(slots.next().value, slot, storageRoot),
    header,
  )
  if (!slots.next().done) throw invalid('the proof has too many slots')
  const { blockNumber, blockHash, blockTime } = header
  return { blockNumber, blockHash, blockTime, ...read }
}

/**
 * @returns The root of the registry's storage, 32 bytes.
 * @throws {FormatError} `proof_invalid`
 * @throws {ChainError} `no_registry`, `other_code`
 */
export function readStorageRoot(
  accountProof: readonly Hex[],
  { stateRoot }: Pick<Header, 'stateRoot'>,
  address: Hex,
  expected?: Hex,
): Uint8Array {
  const leaf = readTrie(stateRoot, keccak_256(fromHex(address)), nodesOf(accountProof))
  if (!leaf) throw new ChainError('no_registry', 'there is no account at the address')
  const account = decodeRlp(leaf)
  if (account instanceof Uint8Array || account.length !== 4)
    throw invalid('invalid account in the proof')
  const [, , storageRoot, code] = account
  if (!isHash(storageRoot) || !isHash(code)) throw invalid('invalid account in the proof')
  const codeHash = toHex(code)
  if (codeHash === NO_CODE) throw new ChainError('no_registry', 'there is no code at the address')
  if (expected !== undefined && codeHash !== expected)
    throw new ChainError('other_code', 'the code at the address is not that of the registry')
  return storageRoot
}

function isHash(item: RlpItem | undefined): item is Uint8Array {
  return item instanceof Uint8Array && item.length === 32
}

function readSlot(given: SlotProof | undefined, slot: Hex, storageRoot: Uint8Array): Uint8Array {
  if (given?.key !== slot) throw invalid('the proof has an unexpected slot')
  const leaf = readTrie(storageRoot, keccak_256(fromHex(slot)), nodesOf(given.proof))
  const word = wordOf(leaf)
  if (given.value !== toHex(word)) throw invalid('the proof does not prove the value of the slot')
  return word
}

/** @returns The value of a slot, 32 bytes, from its leaf in the storage trie. */
export function wordOf(leaf: Uint8Array | undefined): Uint8Array {
  const word = new Uint8Array(32)
  if (leaf) {
    const value = decodeRlp(leaf)
    if (!(value instanceof Uint8Array) || value.length > 32)
      throw invalid('invalid slot value in the proof')
    word.set(value, 32 - value.length)
  }
  return word
}

/** A proof is untrusted input of any type. */
function nodesOf(nodes: unknown): Uint8Array[] {
  if (!Array.isArray(nodes)) throw invalid('the nodes of a proof must be an array')
  // `nodes.map` would skip the holes of a sparse array.
  return Array.from(nodes, (node) => fromHex(node))
}
