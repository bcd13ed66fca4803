import type { Hex } from '#document/hex.ts'
import { IssueError } from '#promise/errors.ts'
import type { Intent } from '#promise/intent.ts'
import { isInBatch } from '#promise/record.ts'

/** The minimum of every transaction; a lower estimate is not plausible. */
const MIN_GAS = 21_000n
/**
 * How long an estimate is reused for other intents of the kind. An estimate runs the call several
 * times: where blocks come that fast, it would be a quarter of the chain's work.
 */
const ESTIMATE_TTL_MS = 1_000
/** Minimum intents for reuse: fewer are cheap to estimate. */
const MIN_INTENTS = 16
/**
 * Gas of a call, and of each intent in it, that changes the chain (test/contracts/gas.json), a
 * little less than it is. What needs less has some in it that are on the chain already, and says
 * nothing of others.
 */
const WORK = {
  call: 25_000n,
  issue: 24_500n,
  revoke: 7_900n,
  suspend: 7_900n,
  release: 7_600n,
  /** Any revision of a document in a batch that has none yet. */
  inBatch: 24_500n,
} as const

/**
 * The gas that calls of the registry need. Both reject with an `IssueError` when the node's
 * estimate is not plausible.
 */
export type GasEstimates = {
  /** By a recent estimate for others of the kind; without one, as `refresh`. */
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
    // In proportion is enough for more intents: they share what a call needs by itself.
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

/** A call of the registry is for one kind, and for documents in a batch or others. */
function callOf([first]: readonly Intent[]): string {
  return first === undefined ? '' : `${first.kind} ${isInBatch(first)}`
}

function workOf([first]: readonly Intent[]): bigint {
  if (first === undefined) return 0n
  return isInBatch(first) ? WORK.inBatch : WORK[first.kind]
}
