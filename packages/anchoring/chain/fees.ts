import { larger, smaller } from '#base/wei.ts'
import { IssueError } from '#promise/errors.ts'
import type { SignedTransaction } from '#promise/send.ts'
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

/**
 * Where gas may be free, an account without a balance pays nothing, although nodes suggest a tip.
 *
 * @param account The address of the account that pays.
 * @returns The chain's current price in wei per gas.
 * @throws {IssueError} `registry_refused` when the chain has no base fee.
 */
export async function readPrice(
  calls: ChainCalls,
  account: string,
): Promise<{ baseFee: bigint; tip: bigint }> {
  const [tip, baseFee] = await Promise.all([
    calls.request('eth_maxPriorityFeePerGas', readBigQuantity),
    calls.request('eth_getBlockByNumber', readBaseFee, 'latest', false),
  ])
  if (baseFee === undefined)
    throw new IssueError(
      'registry_refused',
      'blocks of this chain have no baseFeePerGas: enable its London fork (EIP-1559), also if gas is free',
    )
  const isFree = baseFee === 0n && tip > 0n && (await balanceOf(calls, account)) === 0n
  return { baseFee, tip: isFree ? 0n : tip }
}

const balanceOf = ({ request }: ChainCalls, account: string) =>
  request('eth_getBalance', readBigQuantity, account, 'latest')

/** @returns `undefined` for a block from before EIP-1559. */
function readBaseFee(answer: unknown): bigint | undefined {
  const { number, baseFeePerGas } = readObject(answer)
  if (number !== undefined && baseFeePerGas === undefined) return undefined
  return readBigQuantity(baseFeePerGas)
}

/**
 * @param account The address of the account that pays.
 * @param cap The maximum wei per gas; absent = any price.
 */
export function createFees(calls: ChainCalls, account: string, cap?: bigint): Fees {
  let kept: { baseFee: bigint; tip: bigint; askedAt: number } | undefined

  async function price() {
    kept = { ...(await readPrice(calls, account)), askedAt: performance.now() }
    return kept
  }

  /** Where gas is free, an account without a balance has nothing more to offer. */
  async function mayRaise({ maxFeePerGas }: Offer): Promise<boolean> {
    if (maxFeePerGas > 0n) return true
    return (await balanceOf(calls, account)) > 0n
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
    const least = replaced && (await mayRaise(replaced)) ? replaced : undefined
    const minFee = least ? raised(least.maxFeePerGas) : 0n
    const wanted = larger(2n * baseFee + tip, minFee)
    const maxFeePerGas = cap !== undefined && wanted > cap ? cap : wanted
    if (maxFeePerGas < minFee)
      throw new IssueError(
        'fee_too_high',
        `a replacement would cost ${minFee} wei per gas, which is more than the cap of ${cap}`,
      )
    const tipNow = least ? larger(tip, raised(least.maxPriorityFeePerGas)) : tip
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
