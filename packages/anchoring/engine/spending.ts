import { clock } from '#base/clock.ts'
import { larger, smaller } from '#base/wei.ts'
import type { FeeLog, RegistryReader } from '#promise/ports.ts'
import type { Send } from '#promise/send.ts'

const HOUR_MS = 3_600_000

/** The maximum cost of transactions in wei; absent = any fee. */
export type FeeCaps = {
  transaction?: bigint
  /** The sum of the transactions settled in the last hour and all in flight. */
  hour?: bigint
}

/** Keeps spending under the caps, also across restarts. */
export type Spending = {
  /**
   * @param replaced The send whose transactions it would replace, because only one of them can be
   * mined.
   * @returns The maximum wei that the next transaction may cost; `undefined` = any fee.
   */
  allowance(replaced?: Send): Promise<bigint | undefined>
  /**
   * Runs work that reads the allowance and makes a transaction with it, one after another, because
   * two transactions must not use the same allowance.
   */
  inTurn<T>(work: () => Promise<T>): Promise<T>
  /** @returns The wei that a settled send cost, or its maximum cost if the real one is unknown. */
  costOf(send: Send): Promise<bigint>
  /** @returns The wei spent in the last hour, plus the maximum cost of transactions in flight. */
  lastHour(): Promise<bigint>
}

/** @param sends Returns the sends whose cost is not in the log yet. */
export function createSpending(
  caps: FeeCaps,
  fees: FeeLog,
  registry: RegistryReader,
  sends: () => readonly Send[],
): Spending {
  let turn: Promise<unknown> = Promise.resolve()

  async function lastHour(): Promise<bigint> {
    // This is read before the log, so that a send that settles in between counts twice instead of
    // not at all.
    const unnoted = sends()
    const settled = await fees.feesSince(clock.now() - HOUR_MS)
    return unnoted.reduce((sum, send) => sum + maxCostOf(send), settled)
  }

  return {
    lastHour,

    async allowance(replaced) {
      if (caps.hour === undefined) return caps.transaction
      const own = replaced ? maxCostOf(replaced) : 0n
      const left = caps.hour - (await lastHour()) + own
      const hour = larger(left, 0n)
      return smaller(hour, caps.transaction ?? hour)
    },

    inTurn(work) {
      const done = turn.then(work)
      turn = done.catch(() => {})
      return done
    },

    async costOf(send) {
      if (caps.hour === undefined) return 0n
      for (const { hash } of send.attempts.toReversed()) {
        const receipt = await registry.receiptOf(hash).catch(() => undefined)
        // A node that reports more is wrong.
        if (receipt?.fee !== undefined) return smaller(receipt.fee, maxCostOf(send))
      }
      return maxCostOf(send)
    },
  }
}

/** Only one transaction of a send can be mined. */
function maxCostOf({ attempts }: Send): bigint {
  return attempts.map(({ gasLimit, maxFeePerGas }) => gasLimit * maxFeePerGas).reduce(larger, 0n)
}
