import { TooLargeError } from '../../document/bytes.ts'
import type { Hex } from '../../document/hex.ts'
import { ChainError, HttpStatusError, RpcResponseError } from '../errors.ts'
import type { ReadOptions } from '../ports.ts'
import { createNodeSet, readWord } from '../proof/completeness.ts'
import type { Header } from '../proof/header.ts'
import { readProof } from '../proof/invalid.ts'
import { readStorageRoot } from '../proof/state-proof.ts'
import { fetchNodes } from './proof.ts'
import type { Request } from './request.ts'

/**
 * The number of slots in the first `eth_getProof`, and the maximum. geth refuses more than 1,024,
 * and the response has some KB for each.
 */
const [FIRST_SLOTS, MAX_SLOTS] = [256, 512]
/** The number of concurrent requests. */
const MAX_AT_A_TIME = 4
/** Error codes of JSON-RPC 2.0. */
const [UNKNOWN_METHOD, INVALID_PARAMS] = [-32601, -32602]
const TOO_LARGE = 413
/** Texts with which nodes refuse too many slots or too long an answer. */
const LIMIT = /too many|too large|limit|exceed|maximum/i

type SlotProverOptions = ReadOptions & {
  request: Request
  /** The address of the contract. */
  address: Hex
  /** The header of the block whose state is read. */
  header: Header
  /** The keccak256 of the contract's code; absent = any code is accepted. */
  codeHash?: Hex | undefined
  /** Receives the trie nodes that the slots needed. A node may come more than once. */
  onNodes?: (nodes: readonly Hex[], accountProof: readonly Hex[]) => void
}

/**
 * Reads storage slots of a contract by proof against a header, in requests that the node accepts.
 * This takes least work for slots in the order of {@link trieKeyOf}, because neighbours share
 * nodes.
 */
export type SlotProver = {
  /**
   * @param slots The slots, which are requested as they are needed.
   * @param take Receives the value of each slot, in any order; `index` counts the slots from 0.
   * @throws {ChainError} `proof_invalid`, `proof_unavailable`, `state_unavailable`, `no_registry`,
   * `other_code`, `rpc_unreachable`.
   */
  prove(slots: Iterable<Hex>, take: (word: bigint, index: number) => void): Promise<void>
}

export function createSlotProver(options: SlotProverOptions): SlotProver {
  const { request, address, header, codeHash, onNodes, signal } = options
  let most = FIRST_SLOTS
  /** The smallest number of slots that was ever refused. */
  let refused = MAX_SLOTS + 1

  async function proveSome(slots: readonly Hex[]): Promise<bigint[]> {
    const at = { block: header.blockNumber, signal }
    const { accountProof, nodes } = await fetchNodes(request, address, slots, at)
    return readProof(() => {
      const root = readStorageRoot(accountProof, header, address, codeHash)
      const set = createNodeSet(nodes)
      const words = slots.map((slot) => readWord(root, slot, set.nodeOf))
      onNodes?.(set.used(), accountProof)
      return words
    })
  }

  /** Halves a list that the node refuses, down to a single slot. */
  async function proveAnyway(slots: readonly Hex[]): Promise<bigint[]> {
    try {
      const words = await proveSome(slots)
      if (slots.length === most) most = Math.min(2 * most, refused - 1, MAX_SLOTS)
      return words
    } catch (error) {
      if (slots.length === 1 || !isTooMany(error)) throw error
      refused = Math.min(refused, slots.length)
      const half = Math.ceil(slots.length / 2)
      most = Math.min(most, half)
      return [
        ...(await proveAnyway(slots.slice(0, half))),
        ...(await proveAnyway(slots.slice(half))),
      ]
    }
  }

  return {
    async prove(slots, take) {
      const rest = slots[Symbol.iterator]()
      let next = 0
      let failed = false
      const work = async () => {
        while (!failed) {
          const from = next
          const some: Hex[] = []
          while (some.length < most) {
            const { value, done } = rest.next()
            if (done) break
            some.push(value)
          }
          if (some.length === 0) return
          next += some.length
          const words = await proveAnyway(some).catch((error) => {
            failed = true
            throw error
          })
          if (failed) return
          for (const [i, word] of words.entries()) take(word, from + i)
        }
      }
      await Promise.all(Array.from({ length: MAX_AT_A_TIME }, work))
    },
  }
}

/** @returns Whether fewer slots may succeed. */
function isTooMany(error: unknown): boolean {
  if (!(error instanceof ChainError)) return false
  const { cause } = error
  const first = cause instanceof ChainError ? cause.cause : cause
  if (first instanceof TooLargeError) return true
  if (first instanceof HttpStatusError) return first.status === TOO_LARGE
  if (first instanceof RpcResponseError) {
    const { code, message } = first
    if (code === UNKNOWN_METHOD) return false
    return error.code !== 'state_unavailable' || code === INVALID_PARAMS || LIMIT.test(message)
  }
  return first instanceof DOMException && first.name === 'TimeoutError'
}
