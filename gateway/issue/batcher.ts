import type { Hex } from '../../document/hex.ts'
import type { Log } from '../log.ts'
import { createBlockTime } from './block-time.ts'
import { asIssueError, IssueError, type IssueErrorCode, refusalOf } from './errors.ts'
import { dueAt } from './gather.ts'
import { keyOfIntent } from './intent.ts'
import { createNap } from './nap.ts'
import type { Outcome } from './outcome.ts'
import { createPlanner } from './planner.ts'
import type {
  Account,
  Backlog,
  Blocks,
  FeeLog,
  Intent,
  Outbox,
  Plans,
  RegistryReader,
  Standing,
  Transactions,
} from './ports.ts'
import { createQueue } from './queue.ts'
import { createSender } from './sender.ts'
import type { FeeCaps } from './spending.ts'
import { createTurnAway } from './turn-away.ts'
import { type Answer, createWaiters } from './waiters.ts'

export type Batcher = {
  /** @throws {IssueError} when it is known that nothing can be anchored now. */
  assertOpen(): void
  /**
   * Has an intent, already in the outbox, anchored with whatever else waits.
   *
   * @param wait Milliseconds until `pending` is the answer.
   * @throws {IssueError} when the intent was withdrawn: nothing happened, and nothing will.
   */
  submit(intent: Intent, wait: number): Promise<Answer>
  /** Puts intents that are in the outbox back in the queue. */
  enqueue(intents: readonly Intent[]): void
  /** How many intents wait for a transaction, and how many transactions for a block. */
  depth(): { queued: number; inFlight: number }
  /** Wei of the last hour, with all that transactions in flight may cost. */
  spentLastHour(): Promise<bigint>
  /** Why nothing can be anchored now; `undefined` when it can. */
  stopped(): IssueErrorCode | undefined
  /** Takes up what an earlier process left, and runs until `stop`. */
  start(): Promise<void>
  /** Ends after the transactions in flight, or 5 seconds; what is left stays in the outbox. */
  stop(): Promise<void>
}

export type BatcherDeps = {
  account: Account
  transactions: Transactions
  registry: RegistryReader
  blocks: Blocks
  outbox: Outbox & Backlog & Plans & FeeLog
  feeCaps: FeeCaps
  /** Takes back intents with their payloads, as far as they were not promised. */
  withdraw: (intents: readonly Intent[]) => Promise<Intent[]>
  /** Receives every intent that the chain has decided. */
  concluded: (kind: Intent['kind'], outcome: Outcome['status']) => void
  log: Log
  /** Maximum intents in one transaction; 1 = no grouping. */
  maxBatch?: number
}

/** Queue limit; further requests get `overloaded`. */
const MAX_QUEUE = 10_000
/** Maximum transactions in flight; geth keeps 16 of an account that it does not know. */
const MAX_IN_FLIGHT = 10
/** Of these, those that only late arrivals get: full batches leave them free. */
const LATE_LANES = 2
/** Between looks at the newest block while nothing else is to be done. */
const LOOK_INTERVAL_MS = 250
/** What a timer holds. */
const MAX_SLEEP_MS = 2 ** 31 - 1
/** Between tries with a chain that takes nothing. */
const RETRY_INTERVAL_MS = 500
/** How long `stop` waits for transactions in flight. */
const STOP_TIMEOUT_MS = 5_000

/**
 * Group commit: intents gather, and the next transaction takes them all. On a chain with a block every so many seconds they gather
 * towards the next one. On others, an intent that is alone goes at once, and intents gather while a transaction is in flight; when the
 * chain is slow, or a transaction full, the next does not wait for the one before.
 */
export function createBatcher(deps: BatcherDeps): Batcher {
  const { outbox, log } = deps
  const nap = createNap()
  const waiters = createWaiters(late)
  const blockTime = createBlockTime(deps.blocks)
  const sender = createSender({
    ...{ ...deps, blockTime, conclude, answered: nap.wake, noted },
  })
  const queue = createQueue({
    backlog: outbox,
    carries: sender.carries,
    // While transactions are in flight, a look is never far.
    wake: () => (sender.inFlight() === 0 || mayPlan()) && nap.wake(),
    log,
  })
  const { turnAway, settled } = createTurnAway({ ...deps, queue, waiters })
  const planner = createPlanner({
    ...deps,
    ...{ queue, backlog: outbox, plan: sender.plan, conclude, turnAway },
  })
  let trouble: IssueError | undefined
  /** While transactions are made: it goes on beside looking at those in flight, and ends with why no more can be made, if so. */
  let planning: Promise<void> | undefined
  let refusal: unknown
  let stopBy = Number.POSITIVE_INFINITY
  let running: Promise<void> = Promise.resolve()

  const stopping = () => stopBy !== Number.POSITIVE_INFINITY

  async function run(): Promise<void> {
    while (!stopping() || ((sender.inFlight() > 0 || planning) && performance.now() < stopBy)) {
      await work().then(() => setTrouble(undefined), setTrouble)
      await rest()
    }
    await planning
  }

  async function work(): Promise<void> {
    if (sender.inFlight() > 0 || queue.size > 0) blockTime.look()
    await sender.advance(planning !== undefined)
    if (mayPlan()) startPlanning()
    else if (trouble && !planning && sender.inFlight() === 0) {
      await deps.account.assertReady()
      await sender.assertAffordable()
    }
    await checkPlanning()
  }

  function startPlanning(): void {
    planning = planner
      .run(isDue)
      .catch((error) => {
        refusal = error
      })
      .finally(() => {
        planning = undefined
        nap.wake()
      })
  }

  /** @throws why planning failed. After trouble, whether it is over is known when planning has ended. */
  async function checkPlanning(): Promise<void> {
    if (trouble) await planning
    const error = refusal
    refusal = undefined
    if (error !== undefined) throw error
  }

  function mayPlan(): boolean {
    return planning === undefined && isDue()
  }

  /** Whether what waits is to get a transaction now. */
  function isDue(): boolean {
    const [first] = stopping() ? [] : queue.next(1)
    if (first === undefined) return false
    const lanes = MAX_IN_FLIGHT - sender.inFlight()
    const isFull = queue.size >= planner.limit
    return (isFull && lanes > LATE_LANES) || (lanes > 0 && gathering(first) <= 0)
  }

  /**
   * Milliseconds for which intents still gather.
   *
   * @param first Of those that can go, the one that came first.
   */
  function gathering(first: Intent): number {
    const load = {
      waitingSince: queue.queuedAt(first),
      gatheringSince: queue.gatheringSince,
      oldestMade: sender.oldestMade(),
      roundTrip: sender.roundTrip(),
    }
    return dueAt(load, blockTime) - performance.now()
  }

  function conclude(intent: Intent, outcome: Outcome, transactions?: ReadonlySet<Hex>): void {
    deps.concluded(intent.kind, outcome.status)
    const key = keyOfIntent(intent)
    if (outcome.status === 'absent') queue.addPromised([intent])
    else if (outcome.status === 'anchored') {
      const { transactionHash } = outcome
      const byAnother = transactionHash !== null && transactions?.has(transactionHash) === false
      waiters.answer(key, { ...outcome, byAnother })
    } else if (outcome.status === 'moot') waiters.answer(key, { status: 'moot' })
    else if (!waiters.reject(key, refusalOf(outcome.status)))
      log.error('promise_broken', { intent: key, reason: outcome.status })
  }

  /** Until there is something to do: an intent more, a node's answer, or time to look at what is in flight. */
  async function rest(): Promise<void> {
    if (trouble) await nap.pause(RETRY_INTERVAL_MS)
    else if (sender.inFlight() > 0) await nap.sleep(Math.min(sender.pause(), untilDue()))
    else if (!mayPlan() && (!stopping() || planning))
      await nap.sleep(Math.min(MAX_SLEEP_MS, untilDue()))
  }

  /** Milliseconds until what gathers is due, or the newest block is to be looked at, if time alone makes it so. */
  function untilDue(): number {
    const [first] = planning ? [] : queue.next(1)
    const full = sender.inFlight() >= MAX_IN_FLIGHT
    if (first === undefined || full) return Number.POSITIVE_INFINITY
    return Math.max(1, Math.min(gathering(first), LOOK_INTERVAL_MS))
  }

  function setTrouble(cause: unknown): void {
    const error = cause === undefined ? undefined : asIssueError(cause)
    if (error && error.code !== trouble?.code)
      log.warn('issuing_stopped', { code: error.code, error: error.message })
    if (!error && trouble) log.info('issuing_resumed')
    trouble = error
  }

  /** Another request for the same was turned away this moment, and took the intent with it. */
  const withdrawn = () => trouble ?? new IssueError('chain_unavailable', 'withdrawn')

  /** Nobody is told that it is pending before that is on disk. */
  async function late(intent: Intent): Promise<Answer> {
    queue.markPromised([intent])
    const { kind, documentHash } = intent
    let standing = await outbox.find(kind, documentHash)
    // What a transaction carried once is not taken back: then no disk is needed for the answer.
    const mayLeave =
      standing?.anchored === false && !standing.promised && standing.transactionHash === null
    if (mayLeave) standing = await outbox.promise(kind, documentHash)
    if (standing === undefined) throw withdrawn()
    if (standing.anchored) return anchoredAt(standing)
    queue.add([standing.intent])
    queue.markPromised([standing.intent])
    return { status: 'pending', transactionHash: standing.transactionHash }
  }

  /** The one that stands is queued: of two revocations, the first, with its reason. */
  function admit(intent: Intent, standing: Standing | undefined): void {
    const key = keyOfIntent(intent)
    if (standing === undefined) waiters.reject(key, withdrawn())
    else if (standing.anchored) waiters.answer(key, anchoredAt(standing))
    // Answered since it was looked for.
    else if (!waiters.has(key)) return
    // A transaction carried it once, for somebody who was told so.
    else if (standing.transactionHash !== null) queue.addPromised([standing.intent])
    else queue.add([standing.intent])
  }

  /** Answers requests that came after the outcome was known, and before the outbox had it. */
  function noted(intents: readonly Intent[]): void {
    for (const intent of intents.filter((one) => waiters.has(keyOfIntent(one))))
      outbox.find(intent.kind, intent.documentHash).then(
        (standing) => admit(intent, standing),
        () => {},
      )
    nap.wake()
  }

  return {
    enqueue: queue.addPromised,

    assertOpen() {
      if (stopping()) throw new IssueError('stopping', 'the service is stopping')
      if (trouble) throw trouble
      if (queue.size >= MAX_QUEUE) throw new IssueError('overloaded', `${queue.size} intents wait`)
    },

    async submit(intent, wait) {
      await settled(intent)
      const answer = waiters.wait(intent, wait)
      admit(intent, await outbox.find(intent.kind, intent.documentHash))
      return answer
    },

    spentLastHour: sender.spentLastHour,
    stopped: () => trouble?.code,
    depth: () => ({ queued: queue.size, inFlight: sender.inFlight() }),

    async start() {
      await sender.restore()
      await queue.restore()
      running = run()
    },

    async stop() {
      stopBy = performance.now() + STOP_TIMEOUT_MS
      nap.wake()
      await running
      await waiters.close()
    },
  }
}

function anchoredAt({ transactionHash }: { transactionHash: Hex | null }): Answer {
  return { status: 'anchored', transactionHash }
}
