import type { Nap } from '#base/concurrency.ts'
import type { Log } from '#base/log.ts'
import { asIssueError, type IssueError } from '#promise/errors.ts'
import type { Account } from '#promise/ports.ts'
import type { BlockTime } from './block-time.ts'
import type { InFlight } from './in-flight.ts'
import type { Planner } from './planner.ts'
import type { Queue } from './queue.ts'
import type { Schedule } from './schedule.ts'
import type { Sender } from './sender.ts'

/** The longest delay that a timer accepts. */
const MAX_SLEEP_MS = 2 ** 31 - 1
/** The time between attempts during an outage. */
const RETRY_INTERVAL_MS = 500
/** How long `stop` waits for transactions in flight. */
const STOP_TIMEOUT_MS = 5_000

/** Plans transactions when they are due, and advances those in flight, until it is stopped. */
export type Loop = {
  start(): void
  /** @returns Whether `stop` was called. Nothing more is planned then. */
  isStopping(): boolean
  /** @returns Why nothing can be anchored at the moment; `undefined` when it can. */
  outage(): IssueError | undefined
  /** Ends the sleep when queued intents are due. */
  queueChanged(): void
  /** Resolves when nothing is in flight and all outcomes are on disk, or after 5 seconds. */
  stop(): Promise<void>
  /** Ends at once. Transactions in flight stay so. */
  abandon(): void
}

export function createLoop(deps: {
  account: Account
  queue: Queue
  inFlight: InFlight
  sender: Sender
  planner: Planner
  schedule: Schedule
  blockTime: BlockTime
  nap: Nap
  log: Log
}): Loop {
  const { queue, inFlight, sender, schedule, nap } = deps
  const outage = createOutage(deps.log)
  const planning = createPlanning(deps.planner, nap.wake)
  let stopBy = Number.POSITIVE_INFINITY
  let running: Promise<void> = Promise.resolve()

  const isStopping = () => stopBy !== Number.POSITIVE_INFINITY
  const hasInFlight = () => inFlight.plans().length > 0
  const isBusy = () => hasInFlight() || planning.isUnderWay()
  /** It is also unfinished while an outcome that requests already have is being written. */
  const isUnfinished = () => planning.isUnderWay() || inFlight.unsettled().length > 0
  const untilStop = () => Math.max(0, stopBy - performance.now())
  const isDue = () => !isStopping() && schedule.isDue()
  const mayPlan = () => !planning.isUnderWay() && isDue()
  const untilDue = () => (planning.isUnderWay() ? Number.POSITIVE_INFINITY : schedule.untilDue())

  async function run(): Promise<void> {
    while (!isStopping() || (isUnfinished() && untilStop() > 0)) {
      await work().then(outage.end, outage.begin)
      await rest()
    }
    await planning.ended()
  }

  async function work(): Promise<void> {
    if (hasInFlight() || queue.size > 0) deps.blockTime.look()
    await sender.advance(planning.isUnderWay())
    if (mayPlan()) planning.start(isDue)
    else if (outage.error() && !isBusy()) {
      await deps.account.assertReady()
      await sender.assertAffordable()
    }
    // During an outage, only the end of planning shows whether it is over.
    if (outage.error()) await planning.ended()
    planning.assertPlanned()
  }

  /**
   * Waits for a new intent, a node's answer, or the time to read the chain for transactions in
   * flight.
   */
  async function rest(): Promise<void> {
    if (outage.error()) await nap.pause(RETRY_INTERVAL_MS)
    else if (hasInFlight()) await nap.sleep(Math.min(sender.pause(), untilDue()))
    else if (!mayPlan() && (!isStopping() || isUnfinished()))
      await nap.sleep(Math.min(MAX_SLEEP_MS, untilDue(), untilStop()))
  }

  return {
    isStopping,
    outage: outage.error,
    start() {
      running = run()
    },
    queueChanged() {
      // While transactions are in flight, the next read is near anyway.
      if (!hasInFlight() || mayPlan()) nap.wake()
    },
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

/** Planning that runs while the loop continues. */
type Planning = {
  isUnderWay(): boolean
  start(isDue: () => boolean): void
  ended(): Promise<void>
  /** @throws the reason why planning failed, once. */
  assertPlanned(): void
}

function createPlanning(planner: Planner, ended: () => void): Planning {
  let underWay: Promise<void> | undefined
  let failure: unknown

  return {
    isUnderWay: () => underWay !== undefined,
    start(isDue) {
      underWay = planner
        .run(isDue)
        .catch((error) => {
          failure = error
        })
        .finally(() => {
          underWay = undefined
          ended()
        })
    },
    ended: async () => underWay,
    assertPlanned() {
      const error = failure
      failure = undefined
      if (error !== undefined) throw error
    },
  }
}

/** Logs when issuing stops, for each new reason, and when it resumes. */
function createOutage(log: Log) {
  let current: IssueError | undefined

  return {
    error: () => current,
    begin(cause: unknown) {
      const error = asIssueError(cause)
      if (error.code !== current?.code)
        log.warn('issuing_stopped', { code: error.code, error: error.message })
      current = error
    },
    end() {
      if (current) log.info('issuing_resumed')
      current = undefined
    },
  }
}
