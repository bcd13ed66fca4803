import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '../../document/hex.ts'
import type { Log } from '../log.ts'
import type { Batcher } from './batcher.ts'
import { type Engine, MAX_QUEUE } from './engine.ts'
import { asIssueError, IssueError } from './errors.ts'
import { type Answers, createFront } from './front.ts'
import type { Intent } from './intent.ts'
import type { Lease, Leases } from './lease.ts'
import { createNap } from './nap.ts'
import type { Outcome } from './outcome.ts'
import type { BusyAccounts, Outbox, SharedBacklog } from './ports.ts'

/** An engine for one lease of its account. */
export type LeasedEngine = {
  engine: Engine
  backlog: SharedBacklog
  /** @throws {IssueError} when the account cannot write. */
  assertReady(): Promise<void>
  /** @throws {IssueError} when something else writes with it. */
  assertAlone(): Promise<void>
}

type EnginesDeps = {
  /** Addresses, lower case, that this gateway can sign for. */
  accounts: readonly Hex[]
  leases: Leases
  outbox: Pick<Outbox, 'find' | 'promise'> & BusyAccounts
  /** Makes an engine whose writes have effect only while the lease lasts. */
  open: (account: Hex, lease: Lease, answers: Answers) => LeasedEngine
  /** Reads the outcome of an intent that has left the outbox. */
  outcomeOf: (intent: Intent) => Promise<Outcome>
  log: Log
}

/** The batcher of one of several gateways. */
export type Engines = Batcher & {
  /** The account that gets this gateway's intents; `undefined` when it has none. */
  own(): { account: Hex; lease: Lease } | undefined
  /** Somebody else changed the outbox, or released a lease: looks now. */
  wake(): void
}

/** Between looks at the leases and at the outbox, in case a notification was lost. */
const LOOK_INTERVAL_MS = 1_000
/** Between looks in any case. */
const MIN_PAUSE_MS = 50
/** How long an account rests that could not be used. */
const REST_MS = 10_000
/** Maximum intents that an engine claims at a time. */
const MAX_CLAIM = 1_000

/** @returns The name of an account's lease. */
export const leaseOfAccount = (account: Hex) => `account ${account}`

type Running = LeasedEngine & {
  account: Hex
  lease: Lease
  isOwn: boolean
  /** Claims intents that it may send. */
  claim: (limit: number) => Promise<Intent[]>
}

/**
 * Runs an engine for each account that this gateway has leased: one for its own intents, if an
 * account is free, and one for each account that a dead gateway left with intents. These get no new
 * ones, and are released when they are done.
 */
export function createEngines(deps: EnginesDeps): Engines {
  const { log } = deps
  const nap = createNap()
  const running = new Map<Hex, Running>()
  let isStopping = false
  /** Intents that wait for any engine; 0 while this gateway has one for them. */
  let unclaimed = 0
  let looking: Promise<void> = Promise.resolve()

  const engines = () => [...running.values()].map(({ engine }) => engine)
  const own = () => [...running.values()].find(({ isOwn }) => isOwn)
  const front = createFront({
    ...deps,
    engineFor: ({ account }) => running.get(account ?? '0x')?.engine,
    engines,
  })
  const starting = createStarting({ ...deps, front, ended: leave })

  /** The lease is lost: another gateway may run the engine by now. */
  function leave(one: Running): void {
    one.engine.abandon()
    if (running.get(one.account) === one) running.delete(one.account)
    nap.wake()
  }

  function add(one: Running | undefined): void {
    if (one && !one.lease.ended.aborted) running.set(one.account, one)
  }

  async function look(): Promise<void> {
    const busy = await deps.outbox.busyAccounts()
    const others = deps.accounts.filter((account) => !running.has(account))
    const left = others.filter((account) => busy.includes(account))
    if (own() === undefined) {
      add(await starting.start([...new Set([...left, ...others])], true))
    }
    const orphaned = left.filter((account) => !running.has(account))
    if (orphaned.length > 0) add(await starting.start(orphaned, false))
    await Promise.all([...running.values()].map(advance))
    unclaimed = own() === undefined ? await deps.outbox.countUnclaimed(MAX_QUEUE) : 0
    await front.look()
  }

  async function advance(one: Running): Promise<void> {
    const { engine, isOwn, lease } = one
    // A longer queue lasts until a later look.
    if (engine.depth().queued < MAX_CLAIM) {
      engine.addPromised(await one.claim(MAX_CLAIM))
      await engine.refresh()
    }
    if (isOwn || !engine.isIdle()) return
    running.delete(one.account)
    await engine.stop()
    await lease.release()
    log.info('account_drained', { account: one.account })
  }

  async function run(): Promise<void> {
    let failure: string | undefined
    while (!isStopping) {
      const error = await look().then(() => undefined, String)
      if (error !== undefined && error !== failure) log.warn('outbox_unread', { error })
      failure = error
      // Notifications come with every commit: a look answers many.
      await sleep(MIN_PAUSE_MS)
      if (!isStopping) await nap.sleep(LOOK_INTERVAL_MS)
    }
  }

  async function stop(): Promise<void> {
    isStopping = true
    nap.wake()
    await looking
    const all = [...running.values()]
    await Promise.all(all.map(({ engine }) => engine.stop()))
    await Promise.all(all.map(({ lease }) => lease.release().catch(() => {})))
    await front.close()
  }

  return {
    own: () => (isStopping ? undefined : own()),
    wake: nap.wake,
    submit: front.submit,
    // Their rows say whose they are.
    enqueue: nap.wake,
    stop,

    assertOpen() {
      if (isStopping) throw new IssueError('stopping', 'the service is stopping')
      if (unclaimed >= MAX_QUEUE)
        throw new IssueError('overloaded', `${unclaimed} intents wait for an account`)
      own()?.engine.assertOpen()
    },
    depth: () =>
      engines()
        .map((engine) => engine.depth())
        .reduce(
          (sum, { queued, inFlight }) => ({
            queued: sum.queued + queued,
            inFlight: sum.inFlight + inFlight,
          }),
          { queued: 0, inFlight: 0 },
        ),
    async spentLastHour() {
      const [any] = engines()
      return any ? any.spentLastHour() : 0n
    },
    stopped: () => own()?.engine.outage()?.code,

    async start() {
      await look()
      looking = run()
    },
  }
}

type Starting = {
  /**
   * Leases one of these accounts, and starts its engine.
   *
   * @param isOwn Whether it gets new intents.
   */
  start(accounts: readonly Hex[], isOwn: boolean): Promise<Running | undefined>
}

/** @param deps.ended Called when the lease of a started engine has ended. */
function createStarting({
  leases,
  open,
  log,
  front,
  ended,
}: Pick<EnginesDeps, 'leases' | 'open' | 'log'> & {
  front: Answers
  ended: (one: Running) => void
}): Starting {
  /** When an account that could not be used is tried again; `performance.now()`. */
  const resting = new Map<Hex, number>()

  return {
    async start(accounts, isOwn) {
      const now = performance.now()
      const rested = accounts.filter((account) => (resting.get(account) ?? 0) <= now)
      if (rested.length === 0) return undefined
      const lease = await leases.take(rested.map(leaseOfAccount))
      if (lease === undefined) return undefined
      const account = accounts.find((one) => leaseOfAccount(one) === lease.name) ?? '0x'
      const leased = open(account, lease, front)
      const { backlog } = leased
      const one = { ...leased, account, lease, isOwn, claim: backlog.claim }
      lease.ended.addEventListener('abort', () => ended(one))
      try {
        if (isOwn) {
          await one.assertReady()
          await one.assertAlone()
        } else {
          await backlog.disclaim()
          const isReady = await one.assertReady().then(
            () => true,
            () => false,
          )
          one.claim = isReady ? backlog.claimRevisions : async () => []
        }
        await one.engine.start()
        lease.ended.throwIfAborted()
        log.info('account_leased', { account, token: lease.token, isOwn })
        return one
      } catch (cause) {
        const { code, message } = asIssueError(cause)
        log.warn('account_not_usable', { account, code, error: message })
        resting.set(account, performance.now() + REST_MS)
        await lease.release().catch(() => {})
        return undefined
      }
    },
  }
}
