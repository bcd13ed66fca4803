import { asIssueError, type IssueError } from '#promise/errors.ts'
import type { Plan, SignedTransaction } from '#promise/plan.ts'
import type { Transactions } from '#promise/ports.ts'
import type { BlockTime } from './block-time.ts'
import type { InFlight, Sending } from './in-flight.ts'

/** The time between broadcasts of the same bytes, until the chain shows the transaction. */
export const REBROADCAST_INTERVAL_MS = 5_000

/** Broadcasts the newest attempts of plans, repeatedly and with the same bytes. */
export type Broadcaster = {
  /** Sends the plans that are due, without waiting for the node's answers. */
  send(plans: readonly Plan[]): void
  /**
   * Rejects when a plan could not be sent. After a failure, it first waits for the nodes' answers.
   *
   * @throws {IssueError} the failure of the first such plan.
   */
  assertSent(): Promise<void>
}

/**
 * @param deps.answered Called when a node has answered a broadcast, because the chain should then be
 * read.
 */
export function createBroadcaster(deps: {
  inFlight: InFlight
  transactions: Transactions
  blockTime: Pick<BlockTime, 'interval'>
  answered: () => void
}): Broadcaster {
  const { inFlight, transactions, blockTime, answered } = deps
  /** With slow blocks, the next one is awaited first. */
  const pause = () => Math.max(REBROADCAST_INTERVAL_MS, 1.25 * (blockTime.interval() ?? 0))
  const failure = (): IssueError | undefined =>
    inFlight
      .plans()
      .map((plan) => inFlight.sendingOf(plan).failure)
      .find(Boolean)

  async function sendOne(transaction: SignedTransaction, sending: Sending): Promise<void> {
    try {
      // If the nonce is occupied, most likely by an earlier attempt, one of the two will be mined.
      await transactions.broadcast(transaction)
      sending.taken = true
      sending.retries = 0
      sending.failure = undefined
    } catch (cause) {
      const error = asIssueError(cause)
      sending.failure = error
      // The transaction was not sent at all, so it is retried as soon as the chain answers.
      if (error.code === 'chain_unavailable') sending.sent = Number.NEGATIVE_INFINITY
      else sending.taken = false
    }
  }

  return {
    send(plans) {
      for (const plan of plans) {
        const sending = inFlight.sendingOf(plan)
        const newest = plan.attempts.at(-1)
        const due = performance.now() - sending.sent >= pause()
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
