import type { Hex } from '../../document/hex.ts'
import { IssueError } from '../issue/errors.ts'
import type { Intent } from '../issue/ports.ts'

/** What every transaction costs; a node that says less is not to be believed. */
const LEAST_GAS = 21_000n
/**
 * How long an estimate is good for others of as many intents or fewer; milliseconds. An estimate runs the call several times: where
 * blocks come that fast, it would be a quarter of the chain's work.
 */
const ESTIMATE_KEPT = 250
/** Intents from which on that is done: it is little work to ask for fewer. */
const MANY = 16
/**
 * Gas of a call, and of each intent in it, that changes the chain (test/contracts/gas.json), a little less than it is. What needs less
 * has some in it that are on the chain already, and says nothing of others.
 */
const WORK = {
  call: 25_000n,
  issue: 24_500n,
  revoke: 7_900n,
  suspend: 7_900n,
  release: 7_600n,
} as const

/** The gas that calls of the registry need. Both reject with an `IssueError` when the node says nothing that can be. */
export type GasEstimates = {
  /** What as many intents of the kind or more were said to need a moment ago, or as `anew`. */
  of(intents: readonly Intent[], data: Hex): Promise<bigint>
  /** @param data The calldata of these intents. */
  anew(intents: readonly Intent[], data: Hex): Promise<bigint>
}

/** What `count` intents of a kind were said to need. */
type Estimate = { gas: bigint; count: number; askedAt: number }

/** @param ask Asks the node for an estimate of a call with this calldata (`eth_estimateGas`). */
export function createEstimates(ask: (data: Hex) => Promise<bigint>): GasEstimates {
  const estimates = new Map<Intent['kind'], Estimate>()

  async function of(intents: readonly Intent[], data: Hex): Promise<bigint> {
    const last = estimates.get(kindOf(intents))
    const good =
      last !== undefined &&
      last.count >= intents.length &&
      performance.now() - last.askedAt < ESTIMATE_KEPT
    return good && intents.length >= MANY ? last.gas : anew(intents, data)
  }

  async function anew(intents: readonly Intent[], data: Hex): Promise<bigint> {
    const askedAt = performance.now()
    const gas = await ask(data)
    if (gas < LEAST_GAS) throw new IssueError('chain_unavailable', 'eth_estimateGas: garbage')
    const kind = kindOf(intents)
    const count = intents.length
    if (gas >= WORK.call + WORK[kind] * BigInt(count)) estimates.set(kind, { gas, count, askedAt })
    return gas
  }

  return { of, anew }
}

/** A call of the registry is for one kind. */
function kindOf([first]: readonly Intent[]): Intent['kind'] {
  return first?.kind ?? 'issue'
}
