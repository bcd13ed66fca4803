import { asIssueError, type IssueError } from './errors.ts'
import type { InFlight, Sending } from './in-flight.ts'
import type { Plan, SignedTransaction, Transactions } from './ports.ts'

/** How often the same bytes are sent again while the chain does not show them. */
export const REBROADCAST_INTERVAL_MS = 5_000

/** Sends the newest attempts of plans, again and again the same bytes. */
export type Broadcaster = {
  /** Sends those that are due, without waiting for the node's answers. */
  send(plans: readonly Plan[]): void
  /**
   * After trouble, whether it is over is known when the nodes have answered.
   *
   * @throws {IssueError} why the first that could not be sent could not.
   */
  assertSent(): Promise<void>
}

/** @param answered Called when a node has answered to a transaction: it is time to look. */
export function createBroadcaster(
  inFlight: InFlight,
  transactions: Transactions,
  answered: () => void,
): Broadcaster {
  const failure = (): IssueError | undefined =>
    inFlight
      .plans()
      .map((plan) => inFlight.sendingOf(plan).failure)
      .find(Boolean)

  async function sendOne(transaction: SignedTransaction, sending: Sending): Promise<void> {
    try {
      // Where its nonce is occupied, by an earlier attempt most likely, one of both will be mined.
      await transactions.broadcast(transaction)
      sending.taken = true
      sending.failure = undefined
    } catch (cause) {
      const error = asIssueError(cause)
      sending.failure = error
      // Not sent at all: try as soon as the chain answers.
      if (error.code === 'chain_unavailable') sending.sent = Number.NEGATIVE_INFINITY
      else sending.taken = false
    }
  }

  return {
    send(plans) {
      for (const plan of plans) {
        const sending = inFlight.sendingOf(plan)
        const newest = plan.attempts.at(-1)
        const due = performance.now() - sending.sent >= REBROADCAST_INTERVAL_MS
        if (!newest || !due || sending.underWay) continue
        sending.sent = performance.now()
        sending.underWay = sendOne(newest, sending).then(() => {
          sending.underWay = undefined
          answered()
        })
      }
    },

    async assertSent() {
      const plans = inFlight.plans()
      if (failure()) await Promise.all(plans.map((plan) => inFlight.sendingOf(plan).underWay))
      const error = failure()
      if (error) throw error
    },
  }
}
