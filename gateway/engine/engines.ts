import { setTimeout as sleep } from 'node:timers/promises'
import { createNap } from '#base/concurrency.ts'
import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import type { Outcome } from '#promise/anchoring.ts'
import type { Batcher } from '#promise/batcher.ts'
import { IssueError } from '#promise/errors.ts'
import type { Intent } from '#promise/intent.ts'
import type { Lease, Leases } from '#promise/lease.ts'
import type { BusyAccounts, Outbox } from '#promise/ports.ts'
import { MAX_QUEUE } from './engine.ts'
import { type Answers, createFront } from './front.ts'
import { createStarting, type LeasedEngine, type Running } from './starting.ts'

type EnginesDeps = {
  /** Addresses, lower case, that this gateway can sign for. */
  accounts: readonly Hex[]
  leases: Leases
  /** Whether there is no other gateway that could do what this one cannot. */
  isSole: boolean
  outbox: Pick<Outbox, 'find' | 'promise'> & BusyAccounts
  /** Makes an engine whose writes have effect only while the lease lasts. */
  open: (account: Hex, lease: Lease, answers: Answers) => LeasedEngine
  /** Reads the outcome of an intent that has left the outbox. */
  outcomeOf: (intent: Intent) => Promise<Outcome>
  log: Log
}

/** The batcher of a gateway, which may be one of several. */
export type Engines = Batcher & {
  /** The account that gets this gateway's intents; `undefined` when it has none. */
  own(): { account: Hex; lease: Lease } | undefined
  /** Somebody else changed the outbox, or released a lease: looks now. */
  wake(): void
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
  const { log } = deps
  const nap = createNap()
  const running = new Map<Hex, Running>()
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
  const starting = createStarting({ ...deps, front, ended: leave }, timing.rest)
  /** Why this gateway has no account, if it is not for lack of a free one. */
  const unusable = () => (own() ? undefined : starting.failure(deps.accounts))

  /** The lease is lost: another gateway may run the engine by now. */
  function leave(one: Running): void {
    one.engine.abandon()
    if (running.get(one.account) === one) running.delete(one.account)
    nap.wake()
  }

  function add(one: Running | undefined): void {
    if (one === undefined || one.lease.ended.aborted) return
    running.set(one.account, one)
    nap.wake()
  }

  /** Leases what is missing. It may take long, and nothing else waits for it. */
  function lease(): Promise<void> {
    leasing ??= leaseMissing().finally(() => {
      leasing = undefined
    })
    return leasing
  }

  async function leaseMissing(): Promise<void> {
    const busy = await deps.outbox.busyAccounts()
    const isFree = (account: Hex) => !running.has(account)
    if (own() === undefined) {
      const left = deps.accounts.filter((account) => busy.includes(account))
      const wanted = [...new Set([...left, ...deps.accounts])]
      add(await starting.start(wanted.filter(isFree), true))
    }
    // Also of accounts that were taken out of the settings.
    const orphaned = busy.filter(isFree)
    if (orphaned.length > 0) add(await starting.start(orphaned, false))
  }

  async function look(): Promise<void> {
    await Promise.all([...running.values()].map(advance))
    unclaimed = own() === undefined ? await deps.outbox.countUnclaimed(MAX_QUEUE) : 0
    await front.look()
  }

  async function advance(one: Running): Promise<void> {
    const { engine, isOwn, lease } = one
    const outage = engine.outage()
    one.stoppedAt = outage && (one.stoppedAt ?? performance.now())
    if (outage) {
      // Intents without an account are left to engines that can anchor them.
      const isLong = performance.now() - (one.stoppedAt ?? 0) >= timing.giveUp
      const isLast = isOwn && deps.isSole
      if (isLong && !isLast && outage.code !== 'fee_too_high') await giveUp(one, outage)
      return
    }
    // A longer queue lasts until a later look.
    if (engine.depth().queued < MAX_CLAIM) {
      engine.addPromised(await one.claim(MAX_CLAIM))
      await engine.refresh()
    }
    if (isOwn || !engine.isIdle()) return
    running.delete(one.account)
    await engine.stop()
    // Something waits that only this account may do.
    if (one.unusable) starting.rest(one.account, one.unusable)
    await lease.release()
    log.info('account_drained', { account: one.account })
    if (deps.isSole) await own()?.backlog.adopt()
  }

  async function giveUp(one: Running, error: IssueError): Promise<void> {
    const { account, backlog } = one
    log.warn('account_given_up', { account, code: error.code, error: error.message })
    starting.rest(account, error)
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

  async function stop(): Promise<void> {
    isStopping = true
    nap.wake()
    await looking
    await leasing?.catch(() => {})
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
      const error = unusable()
      if (error) throw error
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
    stopped: () => (own()?.engine.outage() ?? unusable())?.code,

    async start() {
      await lease()
      const error = deps.isSole ? unusable() : undefined
      if (error) throw error
      looking = run()
    },
  }
}
