import { createNap } from '#base/concurrency.ts'
import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import { type Action, keyOfAction } from '#promise/action.ts'
import type { Outcome } from '#promise/anchoring.ts'
import { IssueError, type IssueErrorCode } from '#promise/errors.ts'
import type { Leader, Outbox } from '#promise/ports.ts'
import { MAX_WAITING } from './survey.ts'
import {
  createTerm,
  type LeaderState,
  type Leading,
  type Term,
  type TermDeps,
  type TermTiming,
  TIMING,
} from './term.ts'
import { createWaiters } from './waiters.ts'

/** If nothing was told for this long, nobody leads; milliseconds. */
const NO_LEADER_MS = 15_000
/** Between looks at notifications, which come with every commit. */
const MIN_LOOK_INTERVAL_MS = 50

/**
 * Starts work that the gateway that leads does for all.
 *
 * @returns A function that stops it.
 */
export type StartChore<L extends Leading> = (leading: L) => () => Promise<void>

type LeaderDeps<L extends Leading> = Omit<TermDeps, 'waiters'> & {
  /** @returns `undefined` while another gateway leads. */
  lead(): Promise<L | undefined>
  /** Stands for election no more. */
  leave(): Promise<void>
  /** @returns What the gateway that leads told last, and how many milliseconds ago. */
  told(): Promise<{ state: LeaderState; age: number } | undefined>
  outbox: Pick<Outbox, 'find'>
  /** Reads the outcome of an action that has left the outbox. */
  outcomeOf: (action: Action) => Promise<Outcome>
  /** Called when a request for an action is durable. */
  requested: (action: Action) => void
  log: Log
}

/** What this gateway knows of the one that leads, which may be itself. */
export type KnownLeader<L extends Leading = Leading> = Leader & {
  /** The account that sends; `undefined` when this gateway does not lead. */
  account(): Hex | undefined
  /** @throws {IssueError} `account_shared` when something else sends with that account. */
  assertAlone(): void
  /** See `LeaderState`. */
  depth(): Pick<LeaderState, 'queued' | 'refused' | 'inFlight'>
  /** Wei spent in the last hour, plus the maximum cost of transactions in flight. */
  spentLastHour(): Promise<bigint>
  /** Why nothing can be anchored at the moment; `undefined` when it can. */
  stopped(): IssueErrorCode | undefined
  /** Runs a chore whenever this gateway leads. @returns A function that stops it. */
  chore(start: StartChore<L>): () => Promise<void>
  /** Outcomes were written: answers requests that wait for them. */
  look(): void
  /**
   * Stands for election, and leads at once if nobody does.
   *
   * @throws {IssueError} when no account can be used, and there is no other gateway.
   */
  start(): Promise<void>
  /** Resolves after the transactions in flight, or after 5 seconds. */
  stop(): Promise<void>
}

const IDLE: LeaderState = {
  outage: null,
  isClosed: false,
  queued: 0,
  refused: 0,
  inFlight: 0,
  spentLastHour: '0',
}

/**
 * State: the term while this gateway leads, what was told last while it does not, and the chores.
 * The session of the database decides who leads; see `Lock`.
 */
export function createLeader<L extends Leading>(
  deps: LeaderDeps<L>,
  timing: TermTiming = TIMING,
): KnownLeader<L> {
  const { isSole, log } = deps
  const nap = createNap()
  const waiters = createWaiters(deps)
  const chores = new Map<StartChore<L>, (() => Promise<void>) | undefined>()
  let leading: { session: L; term: Term } | undefined
  let told: { state: LeaderState; at: number } = { state: IDLE, at: performance.now() }
  let running: Promise<void> = Promise.resolve()
  let isStopping = false
  let lookAgain: NodeJS.Timeout | undefined

  const term = () => leading?.term
  const state = () => term()?.state() ?? told.state

  function outage(): IssueError | undefined {
    if (leading) return leading.term.outage()
    if (told.state.outage) {
      const { code, message } = told.state.outage
      return new IssueError(code, message)
    }
    if (performance.now() - told.at < NO_LEADER_MS) return undefined
    return new IssueError('store_unavailable', 'no gateway leads: none has reported for 15 s')
  }

  /** Leads if nobody does. @returns Whether this gateway leads now. */
  async function tryToLead(): Promise<boolean> {
    const session = await deps.lead()
    if (session === undefined) return false
    const next = createTerm(session, { ...deps, waiters }, timing)
    try {
      await next.start()
    } catch (error) {
      await session.release().catch(() => {})
      throw error
    }
    leading = { session, term: next }
    // `stop` found no term.
    if (isStopping) next.stop()
    log.info('leading')
    for (const start of chores.keys()) chores.set(start, start(session))
    return true
  }

  /** Leads until the term is over. */
  async function lead({ session, term }: { session: L; term: Term }): Promise<void> {
    const end = await term.run()
    told = { state: term.state(), at: performance.now() }
    leading = undefined
    if (end !== 'stopped') log.warn('leads_no_more', { reason: end })
    for (const [start, stop] of chores) {
      chores.set(start, undefined)
      await stop?.()
    }
    await session.release().catch(() => {})
    if (end === 'resigned') await nap.sleep(timing.rest)
  }

  /** Learns what the gateway that leads tells, and answers what it has done. */
  async function follow(): Promise<void> {
    const last = isSole ? undefined : await deps.told()
    if (last) told = { state: last.state, at: performance.now() - last.age }
    if (told.state.outage) waiters.postpone(() => true)
    await waiters.look()
  }

  async function run(): Promise<void> {
    let failure: string | undefined
    while (!isStopping) {
      try {
        if (leading || (await tryToLead())) await lead(leading as NonNullable<typeof leading>)
        else await follow()
        failure = undefined
      } catch (error) {
        if (String(error) !== failure) log.warn('cannot_lead', { error: String(error) })
        failure = String(error)
      }
      if (!isStopping) await nap.sleep(timing.look)
    }
  }

  return {
    account: () => term()?.account(),
    wake: () => term()?.arrived(0),
    resume: async () => term()?.resume(),

    submit(action, milliseconds, isNew = false) {
      deps.requested(action)
      const outcome = waiters.wait(action, milliseconds)
      // What others have added may be on the chain already.
      if (!isNew) void waiters.look([action])
      term()?.arrived(isNew ? 1 : 0)
      const key = keyOfAction(action)
      const mustWait = outage() ?? (action.kind === 'issue' ? term()?.closed() : undefined)
      if (mustWait) waiters.postpone((one) => keyOfAction(one) === key)
      return outcome
    },

    assertOpen() {
      if (isStopping) throw new IssueError('stopping', 'the service is stopping')
      const error = outage()
      if (error) throw error
      const { queued } = state()
      if (queued >= MAX_WAITING)
        throw new IssueError('overloaded', `the queue is full: ${queued} documents or changes wait`)
    },
    assertMayIssue() {
      if (state().isClosed) throw new IssueError('registry_refused', 'the issuer is closed')
    },
    assertAlone: () => term()?.assertAlone(),
    depth() {
      const { queued, refused, inFlight } = state()
      return { queued, refused, inFlight }
    },
    spentLastHour: async () => (await term()?.spentLastHour()) ?? BigInt(state().spentLastHour),
    stopped: () => outage()?.code,

    chore(start) {
      chores.set(start, leading && start(leading.session))
      return async () => {
        const stop = chores.get(start)
        chores.delete(start)
        await stop?.()
      }
    },

    look() {
      lookAgain ??= setTimeout(() => {
        lookAgain = undefined
        void waiters.look()
      }, MIN_LOOK_INTERVAL_MS).unref()
    },

    async start() {
      if (await tryToLead()) await term()?.choose()
      else await follow()
      const error = isSole && term()?.account() === undefined && outage()
      if (error) throw error
      running = run()
    },
    async stop() {
      isStopping = true
      nap.wake()
      term()?.stop()
      await running
      clearTimeout(lookAgain)
      await waiters.close()
      await deps.leave()
    },
  }
}
