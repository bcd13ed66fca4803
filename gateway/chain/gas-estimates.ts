import type { Hex } from '#document/hex.ts'
import { IssueError } from '#promise/errors.ts'
import type { Intent } from '#promise/intent.ts'
import { isInBatch } from '#promise/record.ts'

/** The minimum gas of every transaction. A lower estimate is not plausible. */
const MIN_GAS = 21_000n
/**
 * How long an estimate is reused for other intents of the kind. An estimate runs the call several
 * times, which would be a quarter of the chain's work if blocks come this fast.
 */
const ESTIMATE_TTL_MS = 1_000
/** The minimum number of intents for reuse, because fewer are cheap to estimate. */
const MIN_INTENTS = 16
/**
 * The gas of a call, and of each intent in it, that changes the chain (test/contracts/gas.json), a
 * little less than measured. If an estimate is lower, some of its intents are already on the chain,
 * and it does not apply to others.
 */
const WORK = {
  call: 25_000n,
  issue: 24_500n,
  revoke: 7_900n,
  suspend: 7_900n,
  release: 7_600n,
  /** Any revision of a document in a batch that has not been revised yet. */
  inBatch: 24_500n,
} as const

/**
 * The gas that calls of the registry need. Both methods reject with an `IssueError` when the node's
 * estimate is not plausible.
 */
export type GasEstimates = {
  /** Uses a recent estimate for other intents of the kind; without one, same as `refresh`. */
  of(intents: readonly Intent[], data: Hex): Promise<bigint>
  /** @param data The calldata of these intents. */
  refresh(intents: readonly Intent[], data: Hex): Promise<bigint>
}

/** The node's estimate for `count` intents of a kind. */
type Estimate = { gas: bigint; count: number; askedAt: number }

/** @param ask Requests an estimate of a call with this calldata (`eth_estimateGas`). */
export function createEstimates(ask: (data: Hex) => Promise<bigint>): GasEstimates {
  const estimates = new Map<string, Estimate>()

  async function of(intents: readonly Intent[], data: Hex): Promise<bigint> {
    const count = intents.length
    const last = estimates.get(callOf(intents))
    const good = last !== undefined && performance.now() - last.askedAt < ESTIMATE_TTL_MS
    if (!good || count < MIN_INTENTS) return refresh(intents, data)
    // More intents need at most gas in proportion, because they share the gas of the call itself.
    return count <= last.count ? last.gas : divideUp(last.gas * BigInt(count), BigInt(last.count))
  }

  async function refresh(intents: readonly Intent[], data: Hex): Promise<bigint> {
    const askedAt = performance.now()
    const gas = await ask(data)
    if (gas < MIN_GAS)
      throw new IssueError('chain_unavailable', 'eth_estimateGas: malformed answer')
    const count = intents.length
    const isUsual = gas >= WORK.call + workOf(intents) * BigInt(count)
    if (isUsual && count >= MIN_INTENTS) estimates.set(callOf(intents), { gas, count, askedAt })
    return gas
  }

  return { of, refresh }
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}

/** A call of the registry has intents of one kind, either all in a batch or all alone. */
function callOf([first]: readonly Intent[]): string {
  return first === undefined ? '' : `${first.kind} ${isInBatch(first)}`
}

function workOf([first]: readonly Intent[]): bigint {
  if (first === undefined) return 0n
  return isInBatch(first) ? WORK.inBatch : WORK[first.kind]
}
