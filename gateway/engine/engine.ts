import { createNap } from '#base/concurrency.ts'
import type { Log } from '#base/log.ts'
import type { Outcome } from '#promise/anchoring.ts'
import { IssueError } from '#promise/errors.ts'
import type { Intent } from '#promise/intent.ts'
import { LeaseLost } from '#promise/lease.ts'
import type {
  Account,
  Backlog,
  Blocks,
  FeeLog,
  Plans,
  RegistryReader,
  Transactions,
} from '#promise/ports.ts'
import type { BlockTime } from './block-time.ts'
import type { ForeignWatch } from './foreign.ts'
import type { Answers, Intake } from './front.ts'
import { createInFlight } from './in-flight.ts'
import { createLoop, type Loop } from './loop.ts'
import { createPlanner } from './planner.ts'
import { createQueue, type Queue } from './queue.ts'
import { createSchedule } from './schedule.ts'
import { createSender } from './sender.ts'
import type { Conclude } from './settle.ts'
import type { FeeCaps } from './spending.ts'
import { createTurnAway } from './turn-away.ts'

/** Anchors the intents of one account until it is stopped. */
export type Engine = Intake & {
  /** @throws {IssueError} when nothing can be anchored at the moment, as far as is known. */
  assertOpen(): void
  /** @returns The number of intents that wait for a transaction, and of transactions in flight. */
  depth(): { queued: number; inFlight: number }
  /** @returns The wei spent in the last hour, plus the maximum cost of transactions in flight. */
  spentLastHour(): Promise<bigint>
  /** Continues with the intents of an earlier engine, and runs until `stop`. */
  start(): Promise<void>
  /** Queues intents of the outbox that others have added or put back. */
  refresh(): Promise<void>
  /** @returns Whether no intent waits or is in flight. */
  isIdle(): boolean
  /**
   * Resolves after the transactions in flight, or after 5 seconds. The rest stays in the outbox.
   */
  stop(): Promise<void>
  /** Ends at once, and another engine continues with everything. */
  abandon(): void
}

export type EngineDeps = {
  account: Account
  transactions: Transactions
  registry: RegistryReader
  blocks: Blocks
  /** Shared by all engines. */
  blockTime: BlockTime
  outbox: Backlog & Plans & FeeLog
  feeCaps: FeeCaps
  foreign: ForeignWatch
  /** Withdraws intents that were not promised, with their payloads. */
  withdraw: (intents: readonly Intent[]) => Promise<Intent[]>
  /** Receives every outcome that was read from the chain. */
  concluded: (intent: Intent, outcome: Outcome) => void
  log: Log
  /** The maximum number of intents in one transaction; 1 = no grouping. */
  maxBatch?: number
}

/** The limit of the queue. Further requests get `overloaded`. */
export const MAX_QUEUE = 10_000

/**
 * Commits in groups: intents gather, and the next transaction takes all of them. On a chain with
 * regular blocks they gather until shortly before the next one. On others, a single intent goes at
 * once, and intents gather while a transaction is in flight. When the chain is slow or a
 * transaction is full, the next one does not wait for the previous one.
 */
export function createEngine(deps: EngineDeps, answers: Answers): Engine {
  const nap = createNap()
  const inFlight = createInFlight((intents) => queue.dropped(intents))
  const queue: Queue = createQueue({
    ...deps,
    carries: inFlight.carries,
    changed: () => loop.queueChanged(),
  })
  const { turnAway, settled } = createTurnAway({ ...deps, queue, waiters: answers })
  const conclude: Conclude = (intent, outcome, transactions) => {
    deps.concluded(intent, outcome)
    if (outcome.status === 'absent') queue.addPromised([intent])
    else answers.conclude(intent, outcome, transactions)
  }
  const parts = { ...deps, nap, inFlight, queue, conclude }
  const sender = createSender({
    ...parts,
    answered: nap.wake,
    noted(intents) {
      answers.noted(intents)
      nap.wake()
    },
  })
  const planner = createPlanner({
    ...parts,
    plan: sender.plan,
    // Their requests wait for the engine that now has the account.
    turnAway: async (intents, error) =>
      error instanceof LeaseLost ? [...intents] : turnAway(intents, error),
  })
  const { roundTrip } = sender
  const schedule = createSchedule({ ...parts, roundTrip, batchLimit: () => planner.limit })
  const loop: Loop = createLoop({ ...parts, sender, planner, schedule })

  return {
    add: queue.add,
    addPromised: queue.addPromised,
    markPromised: queue.markPromised,
    settled,
    has: queue.has,
    outage: loop.outage,

    assertOpen() {
      if (loop.isStopping()) throw new IssueError('stopping', 'the service is stopping')
      const error = loop.outage()
      if (error) throw error
      if (queue.size >= MAX_QUEUE)
        throw new IssueError('overloaded', `the queue is full: ${queue.size} intents wait`)
    },

    spentLastHour: sender.spentLastHour,
    depth: () => ({ queued: queue.size, inFlight: inFlight.plans().length }),

    async start() {
      await sender.restore()
      await queue.restore()
      loop.start()
    },
    refresh: queue.refresh,
    isIdle: () => queue.isEmpty() && inFlight.unsettled().length === 0,
    stop: loop.stop,
    abandon: loop.abandon,
  }
}
