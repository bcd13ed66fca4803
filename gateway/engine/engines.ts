import { setTimeout as sleep } from 'node:timers/promises'
import { createNap } from '#base/concurrency.ts'
import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import type { Outcome } from '#promise/anchoring.ts'
import { asIssueError, IssueError, type IssueErrorCode } from '#promise/errors.ts'
import type { Intent } from '#promise/intent.ts'
import { type Lease, type Leases, leaseOfAccount } from '#promise/lease.ts'
import type { Batcher, BusyAccounts, Outbox, SharedBacklog } from '#promise/ports.ts'
import { type Engine, MAX_QUEUE } from './engine.ts'
import { type Answers, createFront } from './front.ts'

/** An engine for one lease of its account. */
type LeasedEngine = {
  engine: Engine
  backlog: SharedBacklog
  /** @throws {IssueError} when the account cannot write. */
  assertReady(): Promise<void>
  /** @throws {IssueError} when something else writes with it. */
  assertAlone(): Promise<void>
}

/** An engine that was started. */
type Running = LeasedEngine & {
  account: Hex
  lease: Lease
  /** Whether it gets new intents. */
  isOwn: boolean
  /** Since when it cannot anchor anything; `performance.now()`. */
  stoppedAt?: number | undefined
  /** Why the account cannot write; it may still be drained. */
  unusable?: IssueError
}

type EnginesDeps = {
  /** Addresses, lower case, that this gateway can sign for. */
  accounts: readonly Hex[]
  leases: Leases
  /** Whether there is no other gateway that could do what this one cannot. */
  isSole: boolean
  outbox: Pick<Outbox, 'find'>
  busy: BusyAccounts
  /** Makes an engine whose writes have effect only while the lease lasts. */
  open: (account: Hex, lease: Lease, answers: Answers) => LeasedEngine
  /** Reads the outcome of an intent that has left the outbox. */
  outcomeOf: (intent: Intent) => Promise<Outcome>
  /** Called when a request for an intent is durable. */
  requested: (intent: Intent) => void
  log: Log
}

/** The batcher of a gateway, which may be one of several. */
export type Engines = Batcher & {
  /** The account that gets this gateway's intents; `undefined` when it has none. */
  own(): { account: Hex; lease: Lease } | undefined
  /** @throws {IssueError} `account_shared` when something else writes with that account. */
  assertAlone(): void
  /** See `Engine`. */
  depth(): ReturnType<Engine['depth']>
  /** Wei spent in the last hour, plus the maximum cost of transactions in flight. */
  spentLastHour(): Promise<bigint>
  /** Why nothing can be anchored at the moment; `undefined` when it can. */
  stopped(): IssueErrorCode | undefined
  /**
   * Continues with the intents of an earlier process, and runs until `stop`.
   *
   * @throws {IssueError} when no account can be used, and no other gateway could anchor instead.
   */
  start(): Promise<void>
  /**
   * Resolves after the transactions in flight, or after 5 seconds. The rest stays in the outbox.
   */
  stop(): Promise<void>
}

/** Milliseconds. */
export type EnginesTiming = {
  /** Between looks at the leases and at the outbox, in case a notification was lost. */
  look: number
  /** How long a gateway keeps an account that it cannot anchor with. */
  giveUp: number
  /** How long an account rests that could not be used. */
  rest: number
}

const TIMING: EnginesTiming = { look: 1_000, giveUp: 10_000, rest: 5_000 }
/** Between looks in any case. */
const MIN_PAUSE_MS = 50
/** Maximum intents that an engine claims at a time. */
const MAX_CLAIM = 1_000

/**
 * Runs an engine for each account that this gateway has leased: one for its own intents, if an
 * account is free, and one for each account that a dead gateway left with intents. These get no new
 * ones, and are released when they are done. A gateway that cannot anchor with an account, for want
 * of funds or of a node, gives it up: another gateway or another account may.
 */
export function createEngines(deps: EnginesDeps, timing = TIMING): Engines {
  const { leases, isSole, busy, log } = deps
  const nap = createNap()
  const running = new Map<Hex, Running>()
  /** Why an account could not be used, and when it is tried again; `performance.now()`. */
  const failed = new Map<Hex, { error: IssueError; until: number }>()
  let isStopping = false
  /** Intents that wait for any engine; 0 while this gateway has one for them. */
  let unclaimed = 0
  let looking: Promise<void> = Promise.resolve()
  let leasing: Promise<void> | undefined

  const engines = () => [...running.values()].map(({ engine }) => engine)
  const own = () => [...running.values()].find(({ isOwn }) => isOwn)
  const front = createFront({
    ...deps,
    engineFor: ({ account }) => running.get(account ?? '0x')?.engine,
    engines,
  })

  /** @returns Why this gateway has no account, if it is not for lack of a free one. */
  function unusable(): IssueError | undefined {
    const errors = deps.accounts.flatMap((account) => failed.get(account)?.error ?? [])
    return own() || errors.length < deps.accounts.length ? undefined : errors[0]
  }

  /** Leaves an account alone for a while. */
  function rest(account: Hex, error: IssueError): void {
    failed.set(account, { error, until: performance.now() + timing.rest })
  }

  /** Leases what is missing. It may take long, and nothing else waits for it. */
  function lease(): Promise<void> {
    leasing ??= leaseMissing().finally(() => {
      leasing = undefined
    })
    return leasing
  }

  async function leaseMissing(): Promise<void> {
    const withIntents = await busy.busyAccounts()
    const isFree = (account: Hex) => !running.has(account)
    if (own() === undefined) {
      const left = deps.accounts.filter((account) => withIntents.includes(account))
      const wanted = [...new Set([...left, ...deps.accounts])]
      await startFirst(wanted.filter(isFree), true)
    }
    // Also of accounts that were taken out of the settings.
    await startFirst(withIntents.filter(isFree), false)
  }

  /** Leases the first of these accounts that can be used now, and starts its engine. */
  async function startFirst(accounts: readonly Hex[], isOwn: boolean): Promise<void> {
    const now = performance.now()
    const rested = accounts.filter((account) => (failed.get(account)?.until ?? 0) <= now)
    if (rested.length === 0) return
    const lease = await leases.take(rested.map(leaseOfAccount))
    if (lease === undefined) {
      // Other gateways have them.
      for (const account of rested) failed.delete(account)
      return
    }
    const account = rested.find((one) => leaseOfAccount(one) === lease.name) ?? '0x'
    const one: Running = { ...deps.open(account, lease, front), account, lease, isOwn }
    lease.ended.addEventListener('abort', () => leave(one))
    try {
      await begin(one)
      failed.delete(account)
      log.info('account_leased', { account, token: lease.token, isOwn })
      running.set(account, one)
      nap.wake()
    } catch (cause) {
      const error = asIssueError(cause)
      log.warn('account_not_usable', { account, code: error.code, error: error.message })
      rest(account, error)
      await lease.release().catch(() => {})
      const others = rested.filter((other) => other !== account)
      await startFirst(others, isOwn)
    }
  }

  async function begin(one: Running): Promise<void> {
    if (one.isOwn) {
      await one.assertReady()
      await one.assertAlone()
      if (isSole) await one.backlog.adopt()
    } else {
      await one.backlog.disclaim()
      await one.assertReady().catch((error) => {
        one.unusable = asIssueError(error)
      })
    }
    await one.engine.start()
    one.lease.ended.throwIfAborted()
  }

  /** The lease is lost: another gateway may run the engine by now. */
  function leave(one: Running): void {
    one.engine.abandon()
    if (running.get(one.account) === one) running.delete(one.account)
    nap.wake()
  }

  async function look(): Promise<void> {
    await Promise.all([...running.values()].map(advance))
    unclaimed = own() === undefined ? await busy.countUnclaimed(MAX_QUEUE) : 0
    await front.look()
  }

  async function advance(one: Running): Promise<void> {
    const { engine, isOwn, lease } = one
    const outage = engine.outage()
    one.stoppedAt = outage && (one.stoppedAt ?? performance.now())
    if (outage) {
      // Intents without an account are left to engines that can anchor them.
      const isLong = performance.now() - (one.stoppedAt ?? 0) >= timing.giveUp
      const isLast = isOwn && isSole
      if (isLong && !isLast && outage.code !== 'fee_too_high') await giveUp(one, outage)
      return
    }
    // A longer queue lasts until a later look.
    if (engine.depth().queued < MAX_CLAIM) {
      engine.addAgain(await claim(one))
      await engine.refresh()
    }
    if (isOwn || !engine.isIdle()) return
    running.delete(one.account)
    await engine.stop()
    // Something waits that only this account may do.
    if (one.unusable) rest(one.account, one.unusable)
    await lease.release()
    log.info('account_drained', { account: one.account })
    if (isSole) await own()?.backlog.adopt()
  }

  async function giveUp(one: Running, error: IssueError): Promise<void> {
    const { account, backlog } = one
    log.warn('account_given_up', { account, code: error.code, error: error.message })
    rest(account, error)
    running.delete(account)
    one.engine.abandon()
    await backlog.disclaim().catch(() => {})
    await one.lease.release().catch(() => {})
  }

  async function run(): Promise<void> {
    let failure: string | undefined
    while (!isStopping) {
      // The same outage ends the look.
      lease().catch(() => {})
      const error = await look().then(() => undefined, String)
      if (error !== undefined && error !== failure) log.warn('outbox_unread', { error })
      failure = error
      // Notifications come with every commit: a look answers many.
      await sleep(MIN_PAUSE_MS)
      if (!isStopping) await nap.sleep(timing.look)
    }
  }

  return {
    own: () => (isStopping ? undefined : own()),
    wake: nap.wake,
    submit: front.submit,

    assertOpen() {
      if (isStopping) throw new IssueError('stopping', 'the service is stopping')
      if (unclaimed >= MAX_QUEUE)
        throw new IssueError('overloaded', `${unclaimed} intents wait for an account`)
      own()?.engine.assertOpen()
      const error = unusable()
      if (error) throw error
    },
    assertMayIssue() {
      const error = own()?.engine.closed()
      if (error) throw error
    },
    assertAlone: () => own()?.engine.assertAlone(),
    depth() {
      const depths = engines().map((engine) => engine.depth())
      const sum = (of: keyof (typeof depths)[number]) =>
        depths.reduce((total, depth) => total + depth[of], 0)
      return { queued: sum('queued'), refused: sum('refused'), inFlight: sum('inFlight') }
    },
    async spentLastHour() {
      const [any] = engines()
      return any ? any.spentLastHour() : 0n
    },
    stopped: () => (own()?.engine.outage() ?? unusable())?.code,

    async start() {
      await lease()
      const error = isSole ? unusable() : undefined
      if (error) throw error
      looking = run()
    },
    async stop() {
      isStopping = true
      nap.wake()
      await looking
      await leasing?.catch(() => {})
      const all = [...running.values()]
      await Promise.all(all.map(({ engine }) => engine.stop()))
      await Promise.all(all.map(({ lease }) => lease.release().catch(() => {})))
      await front.close()
    },
  }
}

/** @returns Intents that nobody has and that the engine may send. */
async function claim({ isOwn, unusable, backlog }: Running): Promise<Intent[]> {
  if (unusable) return []
  return isOwn ? backlog.claim(MAX_CLAIM) : backlog.claimRevisions(MAX_CLAIM)
}
