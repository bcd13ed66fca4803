import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { equalBytes } from '../../document/bytes.ts'
import { fromHex, type Hex } from '../../document/hex.ts'
import { invalid } from './invalid.ts'
import { decodeRlp, type RlpItem, sizeOfRlp } from './rlp.ts'

// Reads one key of Ethereum's Merkle Patricia trie (Yellow Paper, appendix D) from a proof
// (EIP-1186).

/** The RLP of no bytes, which is the root node of an empty trie. */
export const EMPTY_TRIE: Hex = '0x80'
const EMPTY_ROOT = keccak_256(fromHex(EMPTY_TRIE))

/**
 * Reads a key of a trie. Every node is hashed before it is decoded, so its content is authenticated
 * by the root.
 *
 * @param root 32 bytes.
 * @param key The keccak256 of an address or of a slot, 32 bytes.
 * @param proof Exactly the nodes on the path from the root, in order; nodes under 32 bytes are
 * inside their parent. Empty for an empty trie.
 * @returns The value; `undefined` when the proof shows that the trie has none for the key.
 * @throws {FormatError} `proof_invalid`
 */
export function readTrie(
  root: Uint8Array,
  key: Uint8Array,
  proof: readonly Uint8Array[],
): Uint8Array | undefined {
  const nodes = proof[Symbol.iterator]()
  const value = readTrieBy(root, key, (hash) => fetchNode(nodes, hash))
  if (!nodes.next().done) throw invalid('the proof has too many nodes')
  return value
}

/** Returns the node with this hash, or throws. */
export type NodeOf = (hash: Uint8Array) => TrieNode

/** A decoded node: the items of a branch, an extension or a leaf. */
export type TrieNode = RlpItem[]

/** Same as {@link readTrie}, with nodes from any lookup. */
export function readTrieBy(
  root: Uint8Array,
  key: Uint8Array,
  nodeOf: NodeOf,
): Uint8Array | undefined {
  return equalBytes(root, EMPTY_ROOT) ? undefined : walk(nodeOf, root, [...bytesToHex(key)])
}

function walk(nodeOf: NodeOf, root: Uint8Array, path: string[]): Uint8Array | undefined {
  let node = nodeOf(root)
  for (let at = 0; ; ) {
    if (node.length === 17) {
      if (at === path.length) return bytesOf(node[16])
      const child = node[Number.parseInt(path[at] ?? '', 16)]
      at++
      if (child === undefined || child.length === 0) return undefined
      node = childOf(nodeOf, child)
      continue
    }
    const { isLeaf, nibbles } = pathOf(node)
    const onPath = nibbles.every((nibble, i) => nibble === path[at + i])
    if (!onPath) return undefined
    at += nibbles.length
    if (isLeaf) return at === path.length ? bytesOf(node[1]) : undefined
    if (nibbles.length === 0) throw invalid('an extension node has no path')
    node = childOf(nodeOf, node[1])
  }
}

/** @returns The next node of the proof, which must have this hash. */
function fetchNode(nodes: Iterator<Uint8Array>, hash: Uint8Array): TrieNode {
  const { value, done } = nodes.next()
  if (done) throw invalid('the proof has too few nodes')
  if (!equalBytes(keccak_256(value), hash)) throw invalid('a node does not have the expected hash')
  return decodeNode(value)
}

/** @throws {FormatError} `proof_invalid` */
export function decodeNode(bytes: Uint8Array): TrieNode {
  return asNode(decodeRlp(bytes))
}

/** A node under 32 bytes is inside its parent; any other is referenced by hash. */
function childOf(nodeOf: NodeOf, child: RlpItem = []): TrieNode {
  const isReferenced = child instanceof Uint8Array
  const node = isReferenced ? nodeOf(child) : asNode(child)
  const isShort = sizeOfRlp(node) < 32
  if (isReferenced === isShort) throw invalid('a node has the wrong size')
  return node
}

function asNode(item: RlpItem): TrieNode {
  if (item instanceof Uint8Array || (item.length !== 17 && item.length !== 2))
    throw invalid('invalid node')
  return item
}

/**
 * Reads the path of a leaf or an extension, which is hex-prefix encoded: the first nibble gives the
 * kind and whether the length is odd.
 */
function pathOf(node: RlpItem[]): { isLeaf: boolean; nibbles: string[] } {
  const [flags, ...nibbles] = bytesToHex(bytesOf(node[0]))
  const flag = Number(flags)
  if (!(flag <= 3)) throw invalid('invalid path in a node')
  if (flag % 2 === 0 && nibbles.shift() !== '0') throw invalid('invalid path in a node')
  return { isLeaf: flag >= 2, nibbles }
}

function bytesOf(item: RlpItem | undefined): Uint8Array {
  if (!(item instanceof Uint8Array)) throw invalid('a node has a list where bytes are expected')
  return item
}
