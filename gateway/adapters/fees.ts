import {
  readBigQuantity,
  readObject,
} from '../../verifier/readers/rpc-codec.ts'
import { IssueError } from '../issue/errors.ts'
import type { SignedTransaction } from '../issue/ports.ts'
import type { ChainCalls } from './chain-calls.ts'

/** How much more a replacement pays, in fee and tip; per mille, rounded up. Nodes ask for 100. */
const FEE_BUMP = 125n
/** How long a price is good for. Asked for each of hundreds of transactions a second, it would be a third of all calls. */
const PRICE_TTL_MS = 250

/** Wei for a unit of gas (EIP-1559). */
export type Offer = Pick<
  SignedTransaction,
  'maxFeePerGas' | 'maxPriorityFeePerGas'
>

/** What transactions pay. */
export type Fees = {
  /**
   * @param replaced A transaction that this one must replace.
   * @throws {IssueError} `fee_too_high` when the chain asks for more than the cap.
   */
  offer(replaced?: Offer): Promise<Offer>
  /** Whether an offer pays what the chain asks for now. */
  meetsCurrent(offer: Offer): Promise<boolean>
}

/** @param cap Maximum wei for a unit of gas; absent = any price. */
export function createFees({ request }: ChainCalls, cap?: bigint): Fees {
  let kept: { baseFee: bigint; tip: bigint; askedAt: number } | undefined

  /** What the chain asks for now, in wei a gas. */
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

  async function offer(replaced?: Offer): Promise<Offer> {
    const fresh = kept && performance.now() - kept.askedAt < PRICE_TTL_MS
    const { baseFee, tip } = kept && fresh && !replaced ? kept : await price()
    if (cap !== undefined && baseFee + tip > cap)
      throw new IssueError(
        'fee_too_high',
        `the chain asks for ${baseFee + tip} wei a gas, over the cap of ${cap}`,
      )
    const least = replaced ? raised(replaced.maxFeePerGas) : 0n
    const wanted = larger(2n * baseFee + tip, least)
    const maxFeePerGas = cap !== undefined && wanted > cap ? cap : wanted
    if (maxFeePerGas < least)
      throw new IssueError(
        'fee_too_high',
        `a replacement would cost ${least} wei a gas, over the cap of ${cap}`,
      )
    const tipNow = replaced
      ? larger(tip, raised(replaced.maxPriorityFeePerGas))
      : tip
    return {
      maxFeePerGas,
      maxPriorityFeePerGas: smaller(tipNow, maxFeePerGas),
    }
  }

  return {
    offer,
    async meetsCurrent({ maxFeePerGas, maxPriorityFeePerGas }) {
      const { tip, baseFee } = await price()
      return maxPriorityFeePerGas >= tip && maxFeePerGas >= baseFee + tip
    },
  }
}

const raised = (wei: bigint) => (wei * (1000n + FEE_BUMP)) / 1000n + 1n
const smaller = (one: bigint, other: bigint) => (one < other ? one : other)
const larger = (one: bigint, other: bigint) => (one > other ? one : other)
