import type { Log } from '../log.ts'
import { REBROADCAST_INTERVAL_MS } from './broadcast.ts'
import type { InFlight } from './in-flight.ts'
import type { Plans, Transactions } from './ports.ts'

/** A transaction that is in no block for so long is replaced when it pays too little, after twice as long anyway. */
const STUCK_TIMEOUT_MS = 30_000

/** Replaces transactions that do not get into a block. */
export type Replacing = {
  /**
   * The first in flight is made anew when no node takes it, or when it is in no block for long and pays less than the chain asks
   * for. The others wait for it.
   *
   * @returns Whether there is another attempt to send.
   */
  replaceStuck(): Promise<boolean>
}

export function createReplacing(deps: {
  inFlight: InFlight
  transactions: Transactions
  outbox: Plans
  log: Log
}): Replacing {
  const { inFlight, transactions, outbox, log } = deps

  return {
    async replaceStuck() {
      const [plan] = inFlight.plans()
      const newest = plan?.attempts.at(-1)
      if (!plan || !newest) return false
      const sending = inFlight.sendingOf(plan)
      const { taken } = sending
      const age = performance.now() - sending.made
      if (age < (taken ? STUCK_TIMEOUT_MS : REBROADCAST_INTERVAL_MS))
        return false
      // One that pays enough may still be such that no block can have it; but it is not replaced in a hurry.
      const hurry = !taken || age >= 2 * STUCK_TIMEOUT_MS
      if (!hurry && (await transactions.meetsCurrentFee(newest))) return false
      sending.made = performance.now()
      // Do not bump a transaction that no node accepted, for lack of funds say: only the fee would grow.
      const transaction = await transactions.prepare(
        plan.intents,
        plan.nonce,
        taken ? newest : undefined,
      )
      if (transaction.hash === newest.hash) return false
      inFlight.replace(await outbox.replace(plan, transaction))
      sending.sent = Number.NEGATIVE_INFINITY
      log.info('transaction_replaced', {
        nonce: plan.nonce,
        hash: transaction.hash,
      })
      return true
    },
  }
}
