import { larger } from '#base/wei.ts'
import type { Hex } from '#document/hex.ts'
import type { Action } from '#promise/action.ts'
import { IssueError } from '#promise/errors.ts'
import { isInBatch } from '#promise/record.ts'

/** The maximum gas of a transaction (EIP-7825). */
export const MAX_GAS = 16_777_216n
/**
 * Per cent that are added to the estimate, because the chain's state changes between estimate and
 * inclusion.
 */
const GAS_MARGIN = 10n
/** What any byte of calldata costs at least. A lower estimate is not plausible. */
const GAS_A_BYTE = 4n
/**
 * How long an estimate is reused for other actions of the kind. An estimate runs the call several
 * times, which would be a quarter of the chain's work if blocks come this fast.
 */
const ESTIMATE_TTL_MS = 1_000
/** The minimum number of actions for reuse, because fewer are cheap to estimate. */
const MIN_ACTIONS = 16
/**
 * The number of estimates of a kind that are compared, and the minimum number for reuse. Actions
 * that are already on the chain need less gas, so their estimate may be too low for others. The
 * highest of the compared estimates counts.
 */
const COMPARED = { most: 4, least: 2 }

/**
 * The gas that calls of the registry need, learned from the node's estimates alone. `of` and
 * `refresh` reject with an `IssueError` when the estimate is not plausible.
 */
export type GasEstimates = {
  /** Uses recent estimates for other actions of the kind; without them, same as `refresh`. */
  of(actions: readonly Action[], data: Hex): Promise<bigint>
  /** @param data The calldata of these actions. */
  refresh(actions: readonly Action[], data: Hex): Promise<bigint>
  /** @returns The last estimate for a single action of any kind; 0 when there is none. */
  ofOne(): bigint
}

/** The node's estimate for `count` actions of a kind. */
type Estimate = { gas: bigint; count: number; askedAt: number }

/** @param ask Requests an estimate of a call with this calldata (`eth_estimateGas`). */
export function createEstimates(ask: (data: Hex) => Promise<bigint>): GasEstimates {
  /** By kind, the newest first. */
  const estimates = new Map<string, Estimate[]>()
  let one = 0n

  async function of(actions: readonly Action[], data: Hex): Promise<bigint> {
    const count = actions.length
    const known = estimates.get(callOf(actions)) ?? []
    const [newest] = known
    if (count < MIN_ACTIONS || newest === undefined) return refresh(actions, data)
    const expected = inProportion(count, newest)
    // Too many are not worth a call. Half of them are estimated then, which shows a lower price.
    if (!fits(expected)) return expected
    // The gas of more than twice as many would be far too much.
    const alike = known.filter((estimate) => estimate.count <= 2 * count)
    const isFresh = alike.some(({ askedAt }) => performance.now() - askedAt < ESTIMATE_TTL_MS)
    const dearest = alike.map((estimate) => gasFor(count, estimate)).reduce(larger, 0n)
    const isReused = isFresh && alike.length >= COMPARED.least && fits(dearest)
    return isReused ? dearest : refresh(actions, data)
  }

  async function refresh(actions: readonly Action[], data: Hex): Promise<bigint> {
    const askedAt = performance.now()
    const gas = await ask(data)
    if (gas < GAS_A_BYTE * BigInt(data.length / 2 - 1))
      throw new IssueError('chain_unavailable', 'eth_estimateGas: malformed answer')
    const count = actions.length
    if (count === 1) one = gas
    if (count >= MIN_ACTIONS) {
      const known = estimates.get(callOf(actions)) ?? []
      estimates.set(callOf(actions), [{ gas, count, askedAt }, ...known].slice(0, COMPARED.most))
    }
    return gas
  }

  return { of, refresh, ofOne: () => one }
}

/** @returns The gas limit for an estimate. */
export const withMargin = (gas: bigint): bigint => (gas * (100n + GAS_MARGIN)) / 100n

const fits = (gas: bigint) => withMargin(gas) <= MAX_GAS

/** More actions need at most gas in proportion, because they share the gas of the call itself. */
function gasFor(count: number, estimate: Estimate): bigint {
  return larger(estimate.gas, inProportion(count, estimate))
}

function inProportion(count: number, estimate: Estimate): bigint {
  const divisor = BigInt(estimate.count)
  return (estimate.gas * BigInt(count) + divisor - 1n) / divisor
}

/** A call of the registry has actions of one kind, either all in a batch or all alone. */
function callOf([first]: readonly Action[]): string {
  return first === undefined ? '' : `${first.kind} ${isInBatch(first)}`
}
