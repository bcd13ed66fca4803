import { larger, smaller } from '#base/wei.ts'
import { IssueError } from '#promise/errors.ts'
import type { SignedTransaction } from '#promise/plan.ts'
import { readBigQuantity, readObject } from '#verifier/readers/rpc-codec.ts'
import type { ChainCalls } from './chain-calls.ts'

/** How much more a replacement pays in fee and tip, in per mille, rounded up. Nodes require 100. */
const FEE_BUMP = 125n
/**
 * How long a price is reused. If it were read for each of hundreds of transactions a second, that
 * would be a third of all calls.
 */
const PRICE_TTL_MS = 250

/** Wei per gas (EIP-1559). */
export type Offer = Pick<SignedTransaction, 'maxFeePerGas' | 'maxPriorityFeePerGas'>

/** Decides what transactions pay. */
export type Fees = {
  /**
   * @param replaced The transaction that this one must replace.
   * @returns The offer, and the minimum `maxFeePerGas` that it needs.
   * @throws {IssueError} `fee_too_high` when the chain requires more than the cap.
   */
  offer(replaced?: Offer): Promise<Offer & { minFeePerGas: bigint }>
  /**
   * @param gas The gas that a transaction needs.
   * @param maxFee The maximum wei; absent = any fee.
   * @throws {IssueError} `fee_too_high` when the transaction would cost more.
   */
  assertAffordable(gas: bigint, maxFee?: bigint): Promise<void>
  /** @returns Whether an offer meets the chain's current price. */
  meetsCurrent(offer: Offer): Promise<boolean>
}

/** @param cap The maximum wei per gas; absent = any price. */
export function createFees({ request }: ChainCalls, cap?: bigint): Fees {
  let kept: { baseFee: bigint; tip: bigint; askedAt: number } | undefined

  /** @returns The chain's current price in wei per gas. */
  async function price() {
    const [tip, baseFee] = await Promise.all([
      request('eth_maxPriorityFeePerGas', readBigQuantity),
      request(
        'eth_getBlockByNumber',
        (block) => readBigQuantity(readObject(block).baseFeePerGas),
        'latest',
        false,
      ),
    ])
    kept = { baseFee, tip, askedAt: performance.now() }
    return kept
  }

  function assertUnderCap(perGas: bigint): void {
    if (cap !== undefined && perGas > cap)
      throw new IssueError(
        'fee_too_high',
        `the chain requires ${perGas} wei per gas, which is more than the cap of ${cap}`,
      )
  }

  async function offer(replaced?: Offer) {
    const fresh = kept && performance.now() - kept.askedAt < PRICE_TTL_MS
    const { baseFee, tip } = kept && fresh && !replaced ? kept : await price()
    assertUnderCap(baseFee + tip)
    const minFee = replaced ? raised(replaced.maxFeePerGas) : 0n
    const wanted = larger(2n * baseFee + tip, minFee)
    const maxFeePerGas = cap !== undefined && wanted > cap ? cap : wanted
    if (maxFeePerGas < minFee)
      throw new IssueError(
        'fee_too_high',
        `a replacement would cost ${minFee} wei per gas, which is more than the cap of ${cap}`,
      )
    const tipNow = replaced ? larger(tip, raised(replaced.maxPriorityFeePerGas)) : tip
    return {
      maxFeePerGas,
      maxPriorityFeePerGas: smaller(tipNow, maxFeePerGas),
      minFeePerGas: larger(baseFee + tip, minFee),
    }
  }

  return {
    offer,
    async assertAffordable(gas, maxFee) {
      const { baseFee, tip } = await price()
      assertUnderCap(baseFee + tip)
      const fee = gas * (baseFee + tip)
      if (maxFee !== undefined && fee > maxFee) throw feeTooHigh(fee, maxFee)
    },
    async meetsCurrent({ maxFeePerGas, maxPriorityFeePerGas }) {
      const { tip, baseFee } = await price()
      return maxPriorityFeePerGas >= tip && maxFeePerGas >= baseFee + tip
    },
  }
}

/** @param fee The cost in wei of the cheapest transaction that would be accepted. */
export function feeTooHigh(fee: bigint, maxFee: bigint): IssueError {
  return new IssueError(
    'fee_too_high',
    `a transaction would cost ${fee} wei, but may cost at most ${maxFee}`,
  )
}

const raised = (wei: bigint) => (wei * (1000n + FEE_BUMP)) / 1000n + 1n
