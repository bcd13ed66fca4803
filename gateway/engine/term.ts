import { clock } from '#base/clock.ts'
import { createNap } from '#base/concurrency.ts'
import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import type { Outcome } from '#promise/anchoring.ts'
import { asIssueError, IssueError } from '#promise/errors.ts'
import { type Intent, keyOfIntent } from '#promise/intent.ts'
import { type Lock, lockOfAccount } from '#promise/lock.ts'
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
import { type ForeignWatch, waitForForeign } from './foreign.ts'
import { createLane, type Lane } from './lane.ts'
import { createPlanner, type Sender } from './planner.ts'
import { type Arrivals, createSchedule } from './schedule.ts'
import { createSpending, type FeeCaps } from './spending.ts'
import type { Waiters } from './waiters.ts'

/** The right to lead, and what only the gateway that leads writes. */
export type Leading = Lock & {
  /** Takes another lock for as long as the session lasts. @returns Whether it was free. */
  alsoTake(name: string): Promise<boolean>
  /** @returns Whether another gateway could lead. */
  hasRival(): Promise<boolean>
  outbox: Backlog & Plans & FeeLog
  /** Tells the other gateways. */
  tell(state: LeaderState): Promise<void>
}

/** What all gateways know of the one that leads. */
export type LeaderState = {
  /** Why nothing can be anchored at the moment. */
  outage: Pick<IssueError, 'code' | 'message'> | null
  /** Whether the issuer is closed: only changes are made. */
  isClosed: boolean
  /** The intents that wait for a transaction, and those that are held back after a refusal. */
  queued: number
  refused: number
  /** Transactions in flight. */
  inFlight: number
  /** Wei spent in the last hour, plus the maximum cost of transactions in flight; decimal. */
  spentLastHour: string
}

/** An account of the issuer, as seen through the registry. */
export type AccountPorts = {
  account: Account
  transactions: Transactions
  registry: RegistryReader
  blocks: Blocks
}

export type TermDeps = {
  /** The accounts that this gateway can sign for; addresses in lower case, in order of preference. */
  accounts: ReadonlyMap<Hex, AccountPorts>
  /** An account without a key, whose transactions in flight must still be settled. */
  keyless: (account: Hex) => AccountPorts
  foreignWatch: (account: Account) => ForeignWatch
  waiters: Waiters
  /** Receives every outcome that was read from the chain. */
  concluded: (intent: Intent, outcome: Outcome) => void
  /** Counts the intents of a new transaction. */
  planned: (intents: number) => void
  blockTime: BlockTime
  feeCaps: FeeCaps
  maxBatch?: number
  log: Log
}

/** Durations in milliseconds. */
export type TermTiming = {
  /** Between looks into the database, in case something was missed. */
  look: number
  /** How long an account is kept that cannot anchor. */
  giveUp: number
  /** How long an account rests that could not be used. */
  rest: number
}

export const TIMING: TermTiming = { look: 1_000, giveUp: 10_000, rest: 5_000 }

/** Waiting intents are counted up to this number. */
export const MAX_WAITING = 20_000
/** The time between attempts during an outage. */
const RETRY_INTERVAL_MS = 500
/** How long `stop` waits for transactions in flight. */
const STOP_TIMEOUT_MS = 5_000
/** What was told is told again after this time, so that others know that somebody leads. */
const TELL_INTERVAL_MS = 5_000
/** Requests of this process are answered by the chain; this finds those that it missed. */
const WAITERS_INTERVAL_MS = 5_000

/** The time for which one gateway leads. */
export type Term = {
  /** Takes over what was left, and chooses an account. */
  start(): Promise<void>
  /** Anchors what waits. Resolves when the term is over: stopped, lost, or left to a rival. */
  run(): Promise<'stopped' | 'ended' | 'resigned'>
  /** @param count How many intents now wait; 0 = some may. */
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

/** An account in this term. */
type Seat = Sender & {
  address: Hex
  lane: Lane
  account: Account
  foreign: ForeignWatch
  /** Whether this gateway can sign for it. */
  isOwn: boolean
  /** Whether it is locked, and nothing else sends with it. */
  isPrepared: boolean
  /** Why it cannot send at the moment, and since when; `performance.now()`. */
  outage?: IssueError
  outSince: number
  /** When it may be tried again; `performance.now()`. */
  restUntil: number
}

/**
 * One loop settles, replaces, plans and sends for the accounts of the issuer. The first account that
 * can send gets what waits; the others finish what they have in flight.
 *
 * State: the seats, of which `active` gets what waits; `arrivals`, a hint of what waits; the last
 * count of it. All follow from the database and the chain, and end with the term: after any write
 * that failed, a new term reads what is there.
 */
export function createTerm(leading: Leading, deps: TermDeps, timing = TIMING): Term {
  const { waiters, blockTime, log } = deps
  const { outbox } = leading
  const nap = createNap()
  const seats = new Map<Hex, Seat>()
  const arrivals: Arrivals = { count: 0, since: 0, gatheringSince: 0 }
  let active: Seat | undefined
  let choosing: Promise<void> | undefined
  let planning: Promise<void> | undefined
  let counted = { queued: 0, held: 0, added: 0, planned: 0 }
  let carriers: readonly Hex[] = []
  let spent = 0n
  let lookedAt = Number.NEGATIVE_INFINITY
  let waitersAt = performance.now()
  let told = { text: '', at: Number.NEGATIVE_INFINITY }
  let stopBy = Number.POSITIVE_INFINITY

  const all = () => [...seats.values()]
  const spending = createSpending(deps.feeCaps, outbox, anyRegistry(deps), () =>
    all().flatMap(({ lane }) => lane.inFlight.unsettled()),
  )
  const planner = createPlanner({
    arrivals,
    registry: anyRegistry(deps),
    backlog: outbox,
    conclude,
    postpone: waiters.postpone,
    planned(intents) {
      counted.planned += intents
      deps.planned(intents)
    },
    log,
    ...(deps.maxBatch !== undefined && { maxBatch: deps.maxBatch }),
  })
  const nothing = { plans: () => [], sendingOf: never, roundTrip: () => Number.POSITIVE_INFINITY }
  const schedule = createSchedule({
    arrivals,
    inFlight: () => active?.lane.inFlight ?? nothing,
    blockTime,
    batchLimit: () => planner.limit,
  })

  const isStopping = () => stopBy !== Number.POSITIVE_INFINITY
  const untilStop = () => Math.max(0, stopBy - performance.now())
  const hasInFlight = (seat: Seat | undefined) => (seat?.lane.inFlight.plans().length ?? 0) > 0
  const isUnfinished = () =>
    planning !== undefined || all().some(({ lane }) => lane.inFlight.unsettled().length > 0)
  const isDue = () => !isStopping() && active !== undefined && schedule.isDue()
  const mayPlan = () => planning === undefined && isDue()
  const isCarried = (intent: Intent) =>
    all().some(({ lane }) => lane.inFlight.carries(keyOfIntent(intent)))

  function conclude(...[intent, outcome, transactions]: Parameters<Waiters['conclude']>): void {
    deps.concluded(intent, outcome)
    if (outcome.status === 'absent') arrived(1)
    waiters.conclude(intent, outcome, transactions)
  }

  function arrived(count: number): void {
    const now = performance.now()
    if (arrivals.count === 0) Object.assign(arrivals, { since: now, gatheringSince: now })
    arrivals.count = Math.max(1, arrivals.count + count)
    counted.added += count
    // While transactions are in flight, the next read is near anyway.
    if (!hasInFlight(active) || mayPlan()) nap.wake()
  }

  function seatOf(address: Hex): Seat {
    const known = seats.get(address)
    if (known) return known
    const own = deps.accounts.get(address)
    const ports = own ?? deps.keyless(address)
    const foreign = deps.foreignWatch(ports.account)
    const lane = createLane({
      ...ports,
      address,
      foreign,
      outbox,
      spending,
      blockTime,
      conclude,
      answered: nap.wake,
      noted(plans) {
        // What waited for these may go now. Requests that came meanwhile are in the outbox.
        arrived(0)
        void waiters.look(plans.flatMap(({ intents }) => intents))
        nap.wake()
      },
      log,
    })
    const state = { isPrepared: false, outSince: 0, restUntil: 0 }
    const seat = { address, lane, account: ports.account, foreign, isOwn: own !== undefined }
    seats.set(address, { ...seat, ...state })
    return seatOf(address)
  }

  /** @throws {IssueError} when the account cannot send, or something else sends with it. */
  async function prepare(seat: Seat): Promise<void> {
    await seat.account.assertReady()
    if (seat.isPrepared) return
    if (!(await leading.alsoTake(lockOfAccount(seat.address))))
      throw new IssueError('account_shared', 'a command sends transactions with this account')
    const own = new Set(seat.lane.inFlight.plans().map(({ nonce }) => nonce))
    seat.foreign.begin(await waitForForeign({ account: seat.account, own, log }))
    seat.isPrepared = true
  }

  /** Chooses the first account that can send. It may take long, and nothing else waits for it. */
  function choose(): Promise<void> {
    choosing ??= chooseNow().finally(() => {
      choosing = undefined
      nap.wake()
    })
    return choosing
  }

  async function chooseNow(): Promise<void> {
    const left = all().filter((seat) => seat.isOwn && hasInFlight(seat))
    const wanted = new Set([...left, ...[...deps.accounts.keys()].map(seatOf)])
    for (const seat of wanted) {
      if (seat === active || performance.now() < seat.restUntil) continue
      try {
        await prepare(seat)
        resumed(seat)
        active = seat
        log.info('account_chosen', { account: seat.address })
        return
      } catch (cause) {
        unusable(seat, asIssueError(cause))
      }
    }
  }

  function unusable(seat: Seat, error: IssueError): void {
    const { address: account } = seat
    log.warn('account_not_usable', { account, code: error.code, error: error.message })
    stopped(seat, error)
    seat.restUntil = performance.now() + timing.rest
  }

  /** Whether another account, or another gateway, should send in the place of this one. */
  function isOut({ outage, outSince }: Seat): boolean {
    const isLong = performance.now() - outSince >= timing.giveUp
    return outage !== undefined && outage.code !== 'fee_too_high' && isLong
  }

  function stopped(seat: Seat, cause: unknown): void {
    const error = asIssueError(cause)
    if (error.code !== seat.outage?.code)
      log.warn('issuing_stopped', { code: error.code, error: error.message })
    if (!seat.outage) seat.outSince = performance.now()
    seat.outage = error
  }

  function resumed(seat: Seat): void {
    if (seat.outage) log.info('issuing_resumed')
    delete seat.outage
  }

  async function advance(seat: Seat): Promise<void> {
    const isActive = seat === active
    if (!hasInFlight(seat) && !isActive) return
    try {
      await seat.lane.advance(planning !== undefined)
      if (isActive) await plan(seat)
      resumed(seat)
    } catch (error) {
      stopped(seat, error)
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
        stopped(seat, error)
        // Those of a session that ends are taken over.
        if (!leading.ended.aborted) waiters.postpone((intent) => !isCarried(intent))
      })
      .finally(() => {
        planning = undefined
        nap.wake()
      })
  }

  async function planAll(seat: Seat): Promise<void> {
    await planner.run(seat, isDue)
    for (const address of carriers) {
      const other = deps.accounts.has(address) ? seatOf(address) : undefined
      if (!other || other === seat || performance.now() < other.restUntil) continue
      await prepare(other)
        .then(() => planner.runOnce(other))
        .catch((error) => unusable(other, asIssueError(error)))
    }
  }

  /** Looks into the database, each second, and tells the others what this gateway knows. */
  async function look(): Promise<void> {
    lookedAt = performance.now()
    const { queued, held } = await outbox.count(clock.now(), MAX_WAITING + 1)
    counted = { queued, held, added: 0, planned: 0 }
    if (queued > 0 && arrivals.count === 0) arrived(0)
    carriers = queued + held > 0 && deps.accounts.size > 1 ? await outbox.carriers() : []
    spent = await spending.lastHour()
    const state = { ...currentState(), spentLastHour: String(spent) }
    const text = JSON.stringify(state)
    if (text !== told.text || lookedAt - told.at >= TELL_INTERVAL_MS) await leading.tell(state)
    told = { text, at: lookedAt }
    if (lookedAt - waitersAt < WAITERS_INTERVAL_MS) return
    waitersAt = lookedAt
    void waiters.look()
  }

  /** Why nothing is sent; `undefined` when it is. */
  function outage(): IssueError | undefined {
    if (active) return active.outage
    return all().find((seat) => seat.isOwn && seat.outage)?.outage
  }

  const currentState = (): LeaderState => ({
    outage: errorOf(outage()),
    isClosed: planner.closed() !== undefined,
    queued: Math.max(0, counted.queued + counted.added - counted.planned),
    refused: counted.held,
    inFlight: all().reduce((sum, { lane }) => sum + lane.inFlight.plans().length, 0),
    spentLastHour: String(spent),
  })

  async function work(): Promise<void> {
    if (performance.now() - lookedAt >= timing.look) await look()
    if (arrivals.count > 0 || all().some(hasInFlight)) blockTime.look()
    for (const seat of all()) await advance(seat)
    if (!isStopping() && (active === undefined || isOut(active))) void choose()
  }

  async function rest(): Promise<void> {
    const untilLook = Math.max(0, lookedAt + timing.look - performance.now())
    const untilDue = planning ? Number.POSITIVE_INFINITY : schedule.untilDue()
    const busy = all().filter(hasInFlight)
    if (outage()) await nap.pause(RETRY_INTERVAL_MS)
    else if (busy.length > 0) {
      const pauses = busy.map(({ lane, outage }) => (outage ? RETRY_INTERVAL_MS : lane.pause()))
      await nap.sleep(Math.min(untilLook, untilDue, ...pauses))
    } else if (!mayPlan()) await nap.sleep(Math.min(untilLook, untilDue, untilStop()))
  }

  /** Whether to leave everything to another gateway. */
  async function mayResign(): Promise<boolean> {
    if (choosing || isStopping() || (active && !isOut(active))) return false
    if (all().some((seat) => seat.isOwn && !seat.outage)) return false
    return leading.hasRival()
  }

  return {
    async start() {
      for (const plan of await outbox.plans()) seatOf(plan.account).lane.restore([plan])
      await planner.start()
      await look()
      await choose()
    },
    async run() {
      while (!leading.ended.aborted && (!isStopping() || (isUnfinished() && untilStop() > 0))) {
        try {
          await work()
          if (await mayResign()) return 'resigned'
        } catch (error) {
          // The session has ended, or the next round does the same.
          log.debug('round_failed', { error: String(error) })
          await nap.pause(RETRY_INTERVAL_MS)
        }
        await rest()
      }
      if (!leading.ended.aborted) await planning
      return leading.ended.aborted ? 'ended' : 'stopped'
    },
    arrived,
    state: currentState,
    outage,
    closed: planner.closed,
    account: () => active?.address,
    assertAlone: () => active?.foreign.assertAlone(),
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
