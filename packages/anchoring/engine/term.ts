import { createNap } from '#base/concurrency.ts'
import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import { type Action, keyOfAction } from '#promise/action.ts'
import type { Outcome } from '#promise/anchoring.ts'
import type { IssueError } from '#promise/errors.ts'
import type { Lock } from '#promise/lock.ts'
import type { Account, FeeLog, Queue, RegistryReader, Sends } from '#promise/ports.ts'
import { actionsOf } from '#promise/send.ts'
import type { BlockTime } from './block-time.ts'
import type { ForeignWatch } from './foreign.ts'
import { createLane, type Lane } from './lane.ts'
import { createPlanner } from './planner.ts'
import { type Arrivals, createSchedule } from './schedule.ts'
import { type AccountPorts, createSeats, hasInFlight, type Seat, type SeatTiming } from './seats.ts'
import { createSpending, type FeeCaps } from './spending.ts'
import { createSurvey } from './survey.ts'
import type { Waiters } from './waiters.ts'

/** The right to lead, and what only the gateway that leads writes. */
export type Leading = Lock & {
  /** Takes another lock for as long as the session lasts. @returns Whether it was free. */
  alsoTake(name: string): Promise<boolean>
  /** @returns Whether another gateway could lead. */
  hasRival(): Promise<boolean>
  outbox: Queue & Sends & FeeLog
  /** Tells the other gateways. */
  tell(state: LeaderState): Promise<void>
}

/** What all gateways know of the one that leads. */
export type LeaderState = {
  /** Why nothing can be anchored at the moment. */
  outage: Pick<IssueError, 'code' | 'message'> | null
  /** Whether the issuer is closed: only changes are made. */
  isClosed: boolean
  /** The actions that wait for a transaction, and those that are held back after a refusal. */
  queued: number
  refused: number
  /** Transactions in flight. */
  inFlight: number
  /** Wei spent in the last hour, plus the maximum cost of transactions in flight; decimal. */
  spentLastHour: string
}

export type TermDeps = {
  /**
   * The accounts that this gateway can sign for; addresses in lower case, in order of preference.
   */
  accounts: ReadonlyMap<Hex, AccountPorts>
  /** An account without a key, whose transactions in flight must still be settled. */
  keyless: (account: Hex) => AccountPorts
  foreignWatch: (account: Account) => ForeignWatch
  /** Whether there is no other gateway, and so nobody with other accounts. */
  isSole: boolean
  waiters: Waiters
  /** Receives every outcome that was read from the chain. */
  concluded: (action: Action, outcome: Outcome) => void
  /** Counts the actions of a new transaction. */
  planned: (actions: number) => void
  blockTime: BlockTime
  feeCaps: FeeCaps
  maxBatch?: number
  log: Log
}

/** Durations in milliseconds. */
export type TermTiming = SeatTiming & {
  /** Between looks into the database, in case something was missed. */
  look: number
  /** Between what is told without a change, so that others know that somebody leads. */
  tell: number
}

export const TIMING: TermTiming = { look: 1_000, tell: 5_000, giveUp: 10_000, rest: 5_000 }

/** The time between attempts during an outage. */
const RETRY_INTERVAL_MS = 500
/** How long `stop` waits for transactions in flight. */
const STOP_TIMEOUT_MS = 5_000
/** Requests of this process are answered by the chain; this finds those that it missed. */
const WAITERS_INTERVAL_MS = 5_000

/** The time for which one gateway leads. */
export type Term = {
  /** Takes over what was left. */
  start(): Promise<void>
  /** Goes on with what the database has in flight. */
  resume(): Promise<void>
  /** Chooses the first account that can send. The loop does so too, beside everything else. */
  choose(): Promise<void>
  /** Anchors what waits. Resolves when the term is over: stopped, lost, or left to a rival. */
  run(): Promise<'stopped' | 'ended' | 'resigned'>
  /** @param count How many actions now wait; 0 = some may. */
  arrived(count: number): void
  state(): LeaderState
  closed(): IssueError | undefined
  outage(): IssueError | undefined
  /** The account that sends. */
  account(): Hex | undefined
  /** @throws {IssueError} `account_shared` when something else sends with that account. */
  assertAlone(): void
  spentLastHour(): Promise<bigint>
  /** Finishes transactions in flight, for 5 seconds. The rest stays in the database. */
  stop(): void
}

/**
 * One loop settles, replaces, plans and sends for the accounts of the issuer. The first account
 * that can send gets what waits; the others finish what they have in flight.
 *
 * State: the accounts (`seats`); `arrivals`, a hint of what waits; the last count of it (`survey`).
 * All follow from the database and the chain, and end with the term: after any write that failed, a
 * new term reads what is there.
 */
export function createTerm(leading: Leading, deps: TermDeps, timing = TIMING): Term {
  const { waiters, blockTime, log } = deps
  const { outbox } = leading
  const nap = createNap()
  /** See `Sender`. */
  const own = deps.isSole ? [...deps.accounts.keys()] : undefined
  const seats = createSeats({ ...deps, leading, laneOf, chosen: nap.wake }, timing)
  const survey = createSurvey(outbox, deps.accounts.size > 1)
  const arrivals: Arrivals = { count: 0, since: 0, gatheringSince: 0 }
  let planning: Promise<void> | undefined
  let spent = 0n
  let lookedAt = Number.NEGATIVE_INFINITY
  let waitersAt = performance.now()
  let told = { text: '', at: Number.NEGATIVE_INFINITY }
  let stopBy = Number.POSITIVE_INFINITY

  const spending = createSpending(deps.feeCaps, outbox, anyRegistry(deps), () =>
    seats.all().flatMap(({ lane }) => lane.inFlight.unsettled()),
  )
  const planner = createPlanner({
    arrivals,
    registry: anyRegistry(deps),
    queue: outbox,
    own,
    conclude,
    postpone: waiters.postpone,
    planned(actions) {
      survey.planned(actions)
      deps.planned(actions)
    },
    log,
    ...(deps.maxBatch !== undefined && { maxBatch: deps.maxBatch }),
  })
  const nothing = { sends: () => [], sendingOf: never, roundTrip: () => Number.POSITIVE_INFINITY }
  const schedule = createSchedule({
    arrivals,
    inFlight: () => seats.active()?.lane.inFlight ?? nothing,
    blockTime,
    batchLimit: () => planner.limit,
  })

  /** Goes on with what is in flight, perhaps again after a reorg. */
  async function resume(): Promise<void> {
    for (const send of await outbox.inFlight()) seats.of(send.account).lane.restore([send])
    nap.wake()
  }

  const isStopping = () => stopBy !== Number.POSITIVE_INFINITY
  const untilStop = () => Math.max(0, stopBy - performance.now())
  const isUnfinished = () =>
    planning !== undefined || seats.all().some(({ lane }) => lane.inFlight.unsettled().length > 0)
  const isDue = () => !isStopping() && seats.active() !== undefined && schedule.isDue()
  const mayPlan = () => planning === undefined && isDue()
  const isCarried = (action: Action) =>
    seats.all().some(({ lane }) => lane.inFlight.carries(keyOfAction(action)))

  function conclude(...[action, outcome, transactions]: Parameters<Waiters['conclude']>): void {
    deps.concluded(action, outcome)
    if (outcome.status === 'absent') arrived(1)
    waiters.conclude(action, outcome, transactions)
  }

  function arrived(count: number): void {
    const now = performance.now()
    if (arrivals.count === 0) Object.assign(arrivals, { since: now, gatheringSince: now })
    arrivals.count = Math.max(1, arrivals.count + count)
    survey.added(count)
    // While transactions are in flight, the next read is near anyway.
    if (!hasInFlight(seats.active()) || mayPlan()) nap.wake()
  }

  function laneOf(address: Hex, ports: AccountPorts, foreign: ForeignWatch): Lane {
    return createLane({
      ...ports,
      address,
      foreign,
      outbox,
      own,
      spending,
      blockTime,
      conclude,
      answered: nap.wake,
      noted(sends) {
        // What waited for these may go now. Requests that came meanwhile are in the outbox.
        arrived(0)
        void waiters.look(actionsOf(sends))
        nap.wake()
      },
      failed(error) {
        log.error('outcome_not_written', { error: String(error) })
        // The next term reads what is there, and settles it again.
        void leading.release()
      },
      log,
    })
  }

  async function advance(seat: Seat): Promise<void> {
    const isActive = seat === seats.active()
    if (!hasInFlight(seat) && !isActive) return
    try {
      await seat.lane.advance(planning !== undefined)
      if (isActive) await plan(seat)
      seats.resumed(seat)
    } catch (error) {
      seats.stopped(seat, error)
    }
  }

  /** @throws {IssueError} when the active account cannot send. */
  async function plan(seat: Seat): Promise<void> {
    await planner.lookIfOpen(seat.account)
    if (mayPlan()) startPlanning(seat)
    else if (seat.outage && !hasInFlight(seat) && !planning) await seat.lane.assertReady()
    // During an outage, only the end of planning shows whether it is over.
    if (seat.outage) await planning
    const failure = planningFailure
    planningFailure = undefined
    if (failure !== undefined) throw failure
  }

  let planningFailure: unknown

  function startPlanning(seat: Seat): void {
    planning = planAll(seat)
      .catch((error) => {
        planningFailure = error
        seats.stopped(seat, error)
        // Those of a session that ends are taken over.
        if (!leading.ended.aborted) waiters.postpone((action) => !isCarried(action))
      })
      .finally(() => {
        planning = undefined
        nap.wake()
      })
  }

  async function planAll(seat: Seat): Promise<void> {
    await planner.run(seat, isDue)
    for (const address of survey.carriers()) {
      const other = seats.of(address)
      if (other !== seat) await seats.tryWith(other, () => planner.runOnce(other))
    }
  }

  /** Looks into the database, each second, and tells the others what this gateway knows. */
  async function look(): Promise<void> {
    lookedAt = performance.now()
    if ((await survey.take()) > 0 && arrivals.count === 0) arrived(0)
    spent = await spending.lastHour()
    if (!deps.isSole) await tell()
    if (lookedAt - waitersAt < WAITERS_INTERVAL_MS) return
    waitersAt = lookedAt
    void waiters.look()
  }

  /** Tells what has changed, and now and then what has not. */
  async function tell(): Promise<void> {
    const state = currentState()
    const text = JSON.stringify(state)
    if (text === told.text && lookedAt - told.at < timing.tell) return
    await leading.tell(state)
    told = { text, at: lookedAt }
  }

  const currentState = (): LeaderState => ({
    outage: errorOf(seats.outage()),
    isClosed: planner.closed() !== undefined,
    ...survey.waiting(),
    inFlight: seats.all().reduce((sum, { lane }) => sum + lane.inFlight.sends().length, 0),
    spentLastHour: String(spent),
  })

  async function work(): Promise<void> {
    if (performance.now() - lookedAt >= timing.look) await look()
    if (arrivals.count > 0 || seats.all().some(hasInFlight)) blockTime.look()
    for (const seat of seats.all()) await advance(seat)
    if (!isStopping()) seats.chooseIfNeeded()
  }

  async function rest(): Promise<void> {
    const untilLook = Math.max(0, lookedAt + timing.look - performance.now())
    const untilDue = planning ? Number.POSITIVE_INFINITY : schedule.untilDue()
    const busy = seats.all().filter(hasInFlight)
    if (seats.outage()) await nap.pause(RETRY_INTERVAL_MS)
    else if (busy.length > 0) {
      const pauses = busy.map(({ lane, outage }) => (outage ? RETRY_INTERVAL_MS : lane.pause()))
      await nap.sleep(Math.min(untilLook, untilDue, ...pauses))
    } else if (!mayPlan()) await nap.sleep(Math.min(untilLook, untilDue, untilStop()))
  }

  return {
    async start() {
      await resume()
      await planner.start()
      await look()
    },
    resume,
    choose: seats.choose,
    async run() {
      let failure: string | undefined
      while (!leading.ended.aborted && (!isStopping() || (isUnfinished() && untilStop() > 0))) {
        try {
          await work()
          if (!isStopping() && seats.areOut() && (await leading.hasRival())) return 'resigned'
        } catch (error) {
          // The session has ended, or the next round does the same.
          if (String(error) !== failure) log.warn('round_failed', { error: String(error) })
          failure = String(error)
          await nap.pause(RETRY_INTERVAL_MS)
        }
        await rest()
      }
      if (!leading.ended.aborted) await planning
      return leading.ended.aborted ? 'ended' : 'stopped'
    },
    arrived,
    state: currentState,
    outage: seats.outage,
    closed: planner.closed,
    account: () => seats.active()?.lane.account,
    assertAlone: () => seats.active()?.foreign.assertAlone(),
    spentLastHour: spending.lastHour,
    stop() {
      stopBy = performance.now() + STOP_TIMEOUT_MS
      nap.wake()
    },
  }
}

/** Records and blocks are the same through every account. */
function anyRegistry({ accounts }: TermDeps): RegistryReader {
  const [first] = accounts.values()
  if (first === undefined) throw new TypeError('a gateway needs an account')
  return first.registry
}

function errorOf(error: IssueError | undefined): LeaderState['outage'] {
  return error ? { code: error.code, message: error.message } : null
}

function never(): never {
  throw new TypeError('nothing is in flight')
}
