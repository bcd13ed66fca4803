import { createNap } from '#base/concurrency.ts'
import type { Log } from '#base/log.ts'
import type { Outcome } from '#promise/anchoring.ts'
import { asIssueError, IssueError } from '#promise/errors.ts'
import type { Intent } from '#promise/intent.ts'
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
import { createPlanner } from './planner.ts'
import { createQueue, type Queue } from './queue.ts'
import { createSchedule } from './schedule.ts'
import { createSender } from './sender.ts'
import type { Conclude } from './settle.ts'
import type { FeeCaps } from './spending.ts'

/** Anchors the intents of one account until it is stopped. */
export type Engine = Intake & {
  /** @throws {IssueError} when nothing can be anchored at the moment, as far as is known. */
  assertOpen(): void
  /** @returns Why nothing can be anchored at the moment; `undefined` when it can. */
  outage(): IssueError | undefined
  /** @returns Why no documents can be issued while the issuer is closed; `undefined` when it is not. */
  closed(): IssueError | undefined
  /** @throws {IssueError} `account_shared` when foreign transactions keep coming. */
  assertAlone(): void
  /**
   * @returns The number of intents that wait for a transaction, of those that the chain refused and
   * that wait longer, and of transactions in flight.
   */
  depth(): { queued: number; refused: number; inFlight: number }
  /** @returns The wei spent in the last hour, plus the maximum cost of transactions in flight. */
  spentLastHour(): Promise<bigint>
  /** Continues with the intents of an earlier engine, and runs until `stop`. */
  start(): Promise<void>
  /** Queues intents of the outbox that others have added or put back. */
  refresh(): Promise<void>
  /** @returns Whether no intent waits or is in flight. */
  isIdle(): boolean
  /**
   * Resolves when nothing is in flight and all outcomes are on disk, or after 5 seconds. The rest
   * stays in the outbox.
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
  /** Counts the intents of a new transaction. */
  planned: (intents: number) => void
  /** Receives every outcome that was read from the chain. */
  concluded: (intent: Intent, outcome: Outcome) => void
  log: Log
  /** The maximum number of intents in one transaction; 1 = no grouping. */
  maxBatch?: number
}

/** The limit of the queue. Further requests get `overloaded`. */
export const MAX_QUEUE = 10_000
/** The longest delay that a timer accepts. */
const MAX_SLEEP_MS = 2 ** 31 - 1
/** The time between attempts during an outage. */
const RETRY_INTERVAL_MS = 500
/** How long `stop` waits for transactions in flight. */
const STOP_TIMEOUT_MS = 5_000

/**
 * Commits in groups: intents gather, and the next transaction takes all of them. On a chain with
 * regular blocks they gather until shortly before the next one. On others, a single intent goes at
 * once, and intents gather while a transaction is in flight. When the chain is slow or a
 * transaction is full, the next one does not wait for the previous one.
 *
 * A loop plans transactions when they are due, and advances those in flight.
 */
export function createEngine(deps: EngineDeps, answers: Answers): Engine {
  const { account, blockTime, log } = deps
  const nap = createNap()
  const inFlight = createInFlight((intents) => queue.dropped(intents))
  const queue: Queue = createQueue({
    ...deps,
    carries: inFlight.carries,
    changed() {
      // While transactions are in flight, the next read is near anyway.
      if (!hasInFlight() || mayPlan()) nap.wake()
    },
  })
  const conclude: Conclude = (intent, outcome, transactions) => {
    deps.concluded(intent, outcome)
    if (outcome.status === 'absent') queue.addAgain([intent])
    else answers.conclude(intent, outcome, transactions)
  }
  const parts = { ...deps, inFlight, queue, conclude }
  const sender = createSender({
    ...parts,
    answered: nap.wake,
    noted(intents) {
      answers.noted(intents)
      nap.wake()
    },
  })
  const planner = createPlanner({ ...parts, plan: sender.plan, postpone: answers.postpone })
  const schedule = createSchedule({ ...parts, batchLimit: () => planner.limit })

  /** Why nothing can be anchored at the moment. */
  let outage: IssueError | undefined
  /** Planning that runs while the loop continues, and why the last one failed. */
  let planning: Promise<void> | undefined
  let planningFailure: unknown
  let stopBy = Number.POSITIVE_INFINITY
  let running: Promise<void> = Promise.resolve()

  const isStopping = () => stopBy !== Number.POSITIVE_INFINITY
  const hasInFlight = () => inFlight.plans().length > 0
  /** It is also unfinished while an outcome that requests already have is being written. */
  const isUnfinished = () => planning !== undefined || inFlight.unsettled().length > 0
  const untilStop = () => Math.max(0, stopBy - performance.now())
  const isDue = () => !isStopping() && schedule.isDue()
  const mayPlan = () => planning === undefined && isDue()
  const untilDue = () => (planning ? Number.POSITIVE_INFINITY : schedule.untilDue())

  async function run(): Promise<void> {
    while (!isStopping() || (isUnfinished() && untilStop() > 0)) {
      await work().then(resumed, stopped)
      await rest()
    }
    await planning
  }

  async function work(): Promise<void> {
    if (hasInFlight() || queue.size > 0) blockTime.look()
    await sender.advance(planning !== undefined)
    await planner.lookIfOpen()
    if (mayPlan()) startPlanning()
    else if (outage && !hasInFlight() && !planning) {
      await account.assertReady()
      await sender.assertAffordable()
    }
    // During an outage, only the end of planning shows whether it is over.
    if (outage) await planning
    const failure = planningFailure
    planningFailure = undefined
    if (failure !== undefined) throw failure
  }

  function startPlanning(): void {
    planning = planner
      .run(isDue)
      .catch((error) => {
        planningFailure = error
      })
      .finally(() => {
        planning = undefined
        nap.wake()
      })
  }

  /**
   * Waits for a new intent, a node's answer, or the time to read the chain for transactions in
   * flight.
   */
  async function rest(): Promise<void> {
    if (outage) await nap.pause(RETRY_INTERVAL_MS)
    else if (hasInFlight()) await nap.sleep(Math.min(sender.pause(), untilDue()))
    else if (!mayPlan() && (!isStopping() || isUnfinished()))
      await nap.sleep(Math.min(MAX_SLEEP_MS, untilDue(), untilStop(), planner.untilLook()))
  }

  function stopped(cause: unknown): void {
    const error = asIssueError(cause)
    if (error.code !== outage?.code)
      log.warn('issuing_stopped', { code: error.code, error: error.message })
    outage = error
  }

  function resumed(): void {
    if (outage) log.info('issuing_resumed')
    outage = undefined
  }

  return {
    add: queue.add,
    addAgain: queue.addAgain,
    has: queue.has,
    outage: () => outage,
    closed: planner.closed,

    assertOpen() {
      if (isStopping()) throw new IssueError('stopping', 'the service is stopping')
      if (outage) throw outage
      if (queue.size >= MAX_QUEUE)
        throw new IssueError('overloaded', `the queue is full: ${queue.size} intents wait`)
    },

    assertAlone: deps.foreign.assertAlone,
    spentLastHour: sender.spentLastHour,
    depth: () => ({
      queued: queue.size,
      refused: queue.refused,
      inFlight: inFlight.plans().length,
    }),

    async start() {
      await sender.restore()
      await queue.restore()
      running = run()
    },
    refresh: queue.refresh,
    isIdle: () => queue.isEmpty() && inFlight.unsettled().length === 0,
    async stop() {
      stopBy = performance.now() + STOP_TIMEOUT_MS
      nap.wake()
      await running
    },
    abandon() {
      stopBy = Number.NEGATIVE_INFINITY
      nap.wake()
    },
  }
}
