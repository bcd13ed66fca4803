import { keccak_256 } from '@noble/hashes/sha3.js'
import { concatBytes } from '@noble/hashes/utils.js'
import { compareBytes, pause } from './rows.ts'

/** The number of bytes of a node. */
export const NODE = 32
/** The number of leaves that are hashed in one turn of the event loop; these take about 15 ms. */
export const LEAVES_A_TURN = 2048
/** The number of inner nodes in one turn. Each takes up to three hashes, a leaf two. */
const NODES_A_TURN = 1024

/**
 * The two hashes of OpenZeppelin's StandardMerkleTree over `(bytes32 documentHash, uint40
 * validUntil)`.
 */
type TreeHasher = {
  /** A leaf is hashed twice, so that no inner node can be taken for a leaf. */
  leaf(entry: Uint8Array, out: Uint8Array): void
  parent(a: Uint8Array, b: Uint8Array, out: Uint8Array): void
}

/**
 * One hasher is used for many hashes, because a state of keccak for each would fill more memory
 * than the tree.
 */
export function createTreeHasher(): TreeHasher {
  const [blank, state] = [keccak_256.create(), keccak_256.create()]
  const message = new Uint8Array(2 * NODE)
  const hash = (bytes: Uint8Array, out: Uint8Array) =>
    blank._cloneInto(state).update(bytes).digestInto(out)
  return {
    leaf(entry, out) {
      // This is abi.encode: two words of 32 bytes, with the number at the end of its word.
      // `subarray` is not used, because it gives a small array memory outside of the heap.
      message.fill(0)
      for (let i = 0; i < NODE; i++) message[i] = entry[i] as number
      const shift = message.length - entry.length
      for (let i = NODE; i < entry.length; i++) message[shift + i] = entry[i] as number
      hash(message, out)
      hash(out, out)
    },
    parent(a, b, out) {
      const inOrder = compareBytes(a, b) <= 0
      message.set(inOrder ? a : b)
      message.set(inOrder ? b : a, NODE)
      hash(message, out)
    },
  }
}

/**
 * Writes the node with a number to `out`: 0 is the root, the children of node `i` are `2i + 1` and
 * `2i + 2`.
 */
type Tree = (node: number, out: Uint8Array) => void

/**
 * Builds the tree of some leaves. Leaf `k` of `n` is node `2n - 2 - k`.
 *
 * It keeps neither the leaves nor the parents of leaves, which are half of the inner nodes: a proof
 * needs one of these, and one more hash rebuilds it.
 *
 * @param copyLeaf Writes a leaf to `out`. It must keep giving the same leaf.
 */
export async function buildTree(
  size: number,
  copyLeaf: (index: number, out: Uint8Array) => void,
): Promise<Tree> {
  const keptNodes = Math.floor((size - 1) / 2)
  const kept = new Uint8Array(keptNodes * NODE)
  const hasher = createTreeHasher()
  const buffers = () => [new Uint8Array(NODE), new Uint8Array(NODE)] as const
  const [leafA, leafB] = buffers()
  const tree: Tree = (node, out) => {
    if (node < keptNodes) for (let i = 0; i < NODE; i++) out[i] = kept[node * NODE + i] as number
    else if (node >= size - 1) copyLeaf(2 * size - 2 - node, out)
    else {
      tree(2 * node + 1, leafA)
      tree(2 * node + 2, leafB)
      hasher.parent(leafA, leafB, out)
    }
  }
  const [a, b] = buffers()
  const parent = new Uint8Array(NODE)
  for (let node = keptNodes - 1; node >= 0; node--) {
    tree(2 * node + 1, a)
    tree(2 * node + 2, b)
    hasher.parent(a, b, parent)
    kept.set(parent, node * NODE)
    if (node % NODES_A_TURN === 0) await pause()
  }
  return tree
}

/** @returns The siblings from a node upwards, one after another. */
export function proofOf(tree: Tree, node: number): Uint8Array {
  const siblings: Uint8Array[] = []
  for (let at = node; at > 0; at = Math.floor((at - 1) / 2)) {
    const sibling = new Uint8Array(NODE)
    tree(at % 2 === 1 ? at + 1 : at - 1, sibling)
    siblings.push(sibling)
  }
  return concatBytes(...siblings)
}

/**
 * @param entry documentHash ‖ validUntil, 37 bytes.
 * @returns The root to which the proof leads from its leaf.
 */
export function rootOf(entry: Uint8Array, proof: Uint8Array): Uint8Array {
  const hasher = createTreeHasher()
  const node = new Uint8Array(NODE)
  hasher.leaf(entry, node)
  for (let at = 0; at < proof.length; at += NODE)
    hasher.parent(node, proof.subarray(at, at + NODE), node)
  return node
}

/**
 * The leaves are on the lowest two levels of a tree, so a proof has one of at most two lengths. The
 * contract accepts no other, because a longer one could prove something that only looks like a
 * leaf.
 */
export function isProofLength(siblings: number, size: number): boolean {
  return siblings === log2(size) || siblings === log2(2 * size - 1)
}

/**
 * @returns The logarithm rounded down. Math.log2 is not used, because it rounds up just below a
 * power of two.
 */
function log2(value: number): number {
  let power = 0
  for (let rest = value; rest >= 2; rest = Math.floor(rest / 2)) power++
  return power
}
