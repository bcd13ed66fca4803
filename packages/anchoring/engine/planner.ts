import { clock } from '#base/clock.ts'
import type { Log } from '#base/log.ts'
import { type Action, keyOfAction } from '#promise/action.ts'
import { asIssueError, IssueError } from '#promise/errors.ts'
import { LockLost } from '#promise/lock.ts'
import { outcomesOf } from '#promise/outcome.ts'
import {
  type Account,
  MAX_HOLD_MS,
  type Queue,
  type RegistryReader,
  type Sender,
} from '#promise/ports.ts'
import { isWholeBatch } from '#promise/record.ts'
import type { Waiting } from '#promise/send.ts'
import type { Lane } from './lane.ts'
import type { Arrivals } from './schedule.ts'
import type { Conclude, Waiters } from './waiters.ts'

/** The maximum number of actions in one transaction; this is about 13 KB for documents to issue. */
export const MAX_BATCH = 200
/** The oldest actions that are read for one transaction, which takes those that go together. */
const WINDOW = 2 * MAX_BATCH
/** How long the first of several transactions waits until the others are signed. */
const TOGETHER_MS = 50
/** An action that waited for longer may be on the chain already. */
const CERTAIN_MS = 5_000
/** How long an action that the chain refuses is held back at first. */
const MIN_HOLD_MS = 3_000
/** How long to wait between looks at a closed issuer: at first, and at most. */
const DOOR = { minMs: 2_000, maxMs: 60_000 }

/** The account that sends. */
export type SendingSeat = {
  lane: Pick<Lane, 'account' | 'plan'>
  account: Pick<Account, 'assertReady'>
}

/** Makes transactions of waiting actions, and holds those back that the chain refuses. */
export type Planner = {
  /** The number of actions that fill the next transaction. */
  readonly limit: number
  /** Reads from when on actions may be on the chain; call this once, before `run`. */
  start(): Promise<void>
  /**
   * Plans transactions while `isDue`, so that they share blocks and reads of the chain.
   *
   * @throws {IssueError} the reason why none can be made at the moment. Everything waits on.
   */
  run(seat: SendingSeat, isDue: () => boolean): Promise<void>
  /** Plans one transaction, due or not. Rejects as `run`. */
  runOnce(seat: SendingSeat): Promise<void>
  /** @returns Why no documents can be issued while the issuer is closed; `undefined` when it is not. */
  closed(): IssueError | undefined
  /** Looks whether a closed issuer is open again, if that is due. */
  lookIfOpen(account: Pick<Account, 'assertReady'>): Promise<void>
}

export type PlannerDeps = {
  arrivals: Arrivals
  registry: RegistryReader
  queue: Queue
  /** The accounts of the only gateway; see `Sender`. */
  own: Sender['own']
  conclude: Conclude
  postpone: Waiters['postpone']
  /** Counts the actions of a new transaction. */
  planned: (actions: number) => void
  log: Log
  /** The maximum number of actions in one transaction; 1 = no grouping. */
  maxBatch?: number
}

/**
 * State: how many actions the next transaction may have (`limit`, which a refusal halves), the
 * closed issuer, and the newest action at the start.
 */
export function createPlanner(deps: PlannerDeps): Planner {
  const { arrivals, queue, log, maxBatch = MAX_BATCH } = deps
  let limit = maxBatch
  /** Actions up to this one may be on the chain: an earlier leader may have sent them. */
  let uncertainUpTo = 0
  /** Set while the issuer is closed; `lookAt` is a time of `performance.now()`. */
  let door: { error: IssueError; pause: number; lookAt: number } | undefined

  async function planOne(seat: SendingSeat): Promise<boolean> {
    const before = { ...arrivals }
    arrivals.count = 0
    let group: Waiting[] = []
    let left = before.count
    try {
      const sender = { account: seat.lane.account, own: deps.own }
      const window = await queue.next(sender, { now: clock.now(), limit: WINDOW })
      group = nextGroup(window, limit)
      left = window.length - group.length
      if (group.length === 0) return false
      const absent = await stillAbsent(deps, group, unsureOf(group, before.since))
      if (absent.length > 0) {
        await seat.lane.plan(absent)
        deps.planned(absent.length)
        if (door && absent[0]?.action.kind === 'issue') await openDoor()
      }
      limit = Math.min(limit * 2, maxBatch)
      return true
    } catch (error) {
      left += group.length
      await refused(seat, group, asIssueError(error))
      return false
    } finally {
      arrivals.gatheringSince = performance.now()
      if (left > 0) {
        arrivals.count += left
        arrivals.since = before.since
      }
    }
  }

  function unsureOf(group: readonly Waiting[], since: number): Waiting[] {
    const isOld = performance.now() - since >= CERTAIN_MS
    return group.filter(({ action, place, tries, wasSent }) => {
      if (action.kind === 'issue') return isOld || wasSent || tries > 0 || place <= uncertainUpTo
      // The registry skips a repeated change of a document, but refuses that of a whole batch.
      return tries > 0 && isWholeBatch(action)
    })
  }

  /** Handles actions for which no transaction could be made. */
  async function refused(
    { account }: SendingSeat,
    group: readonly Waiting[],
    error: IssueError,
  ): Promise<void> {
    // Another session goes on with them, and their requests wait for it.
    if (error instanceof LockLost || error.code === 'outcome_unknown') throw error
    const { outage, isClosed } = await causeOf(account, error)
    if (outage) {
      // The limit stays at one, so that a single attempt shows whether the fee is still too high.
      if (outage.code !== 'fee_too_high') limit = maxBatch
      throw outage
    }
    const [first] = group
    // While the issuer is closed, changes go on.
    if (isClosed && first?.action.kind === 'issue') return closeDoor(error)
    // Fewer actions are tried, so that one bad action never blocks the others.
    if (group.length > 1) {
      limit = Math.ceil(group.length / 2)
      return
    }
    limit = maxBatch
    if (first === undefined) return
    // No chain accepts the release of a document that somebody has revoked.
    const [waiting] = await stillAbsent(deps, group, group)
    if (waiting === undefined) return
    const key = keyOfAction(waiting.action)
    log.error('action_held_back', { key, error: error.message })
    deps.postpone((one) => keyOfAction(one) === key)
    const tries = first.tries + 1
    await queue.hold([waiting], tries, clock.now() + holdFor(tries))
  }

  async function closeDoor(error: IssueError): Promise<void> {
    limit = maxBatch
    if (!door) {
      door = { error: new IssueError('registry_refused', 'the issuer is closed', error), ...soon() }
      log.warn('issuer_closed', await queue.count(clock.now(), WINDOW))
    }
    deps.postpone(({ kind }) => kind === 'issue')
    await queue.holdIssues(clock.now() + MAX_HOLD_MS)
  }

  async function openDoor(): Promise<void> {
    door = undefined
    log.info('issuer_open')
    await letIssuesGo()
  }

  async function letIssuesGo(): Promise<void> {
    await queue.holdIssues(null)
    arrivals.count += 1
  }

  return {
    get limit() {
      return limit
    },

    async start() {
      uncertainUpTo = await queue.newest()
      // The issuer may have been opened while nobody led.
      await letIssuesGo()
    },

    async run(seat, isDue) {
      const until = performance.now() + TOGETHER_MS
      let goOn = isDue()
      while (goOn) goOn = (await planOne(seat)) && isDue() && performance.now() < until
    },

    async runOnce(seat) {
      await planOne(seat)
    },

    closed: () => door?.error,

    async lookIfOpen(account) {
      if (door === undefined || performance.now() < door.lookAt) return
      const { mayIssue } = await account.assertReady()
      if (mayIssue) await openDoor()
      else door = { ...door, ...soon(door.pause * 2) }
    },
  }
}

/**
 * An action that a transaction carried, or that waited for long, may already be on the chain, and
 * is then not sent again. Above all, a distrusted document must not be issued again.
 *
 * @param unsure Those that may be on the chain.
 * @returns Those that must still be sent.
 */
async function stillAbsent(
  { registry, queue, conclude }: PlannerDeps,
  group: readonly Waiting[],
  unsure: readonly Waiting[],
): Promise<readonly Waiting[]> {
  if (unsure.length === 0) return group
  const outcomes = await outcomesOf(
    registry,
    unsure.map(({ action }) => action),
  )
  const decided = unsure.flatMap((waiting, i) => {
    const outcome = outcomes[i]
    return outcome && outcome.status !== 'absent' ? [{ ...waiting, outcome }] : []
  })
  if (decided.length > 0) await queue.resolve(decided)
  for (const { action, outcome } of decided) conclude(action, outcome)
  const done = new Set(decided.map(({ place }) => place))
  return group.filter(({ place }) => !done.has(place))
}

/**
 * @param window The oldest actions that may go, in order.
 * @returns The first, and those after it that can share its transaction.
 */
function nextGroup(window: readonly Waiting[], limit: number): Waiting[] {
  const [first] = window
  if (first === undefined) return []
  return window.filter(({ action }) => goTogether(first.action, action)).slice(0, limit)
}

/**
 * @returns Whether two actions fit in one call of the registry, which has one kind, one reason, and
 * one batch, as a whole or some of its documents.
 */
function goTogether(one: Action, other: Action): boolean {
  if (isWholeBatch(one) || isWholeBatch(other)) return one === other
  if (one.root !== other.root) return false
  if (one.kind === 'revoke' && other.kind === 'revoke') return one.reason === other.reason
  return one.kind === other.kind
}

/** @returns The milliseconds that an action is held back after so many refusals. */
function holdFor(tries: number): number {
  return Math.min(MIN_HOLD_MS * 2 ** Math.max(0, tries - 1), MAX_HOLD_MS)
}

/** @returns The next look at a closed issuer. */
function soon(pause = DOOR.minMs): { pause: number; lookAt: number } {
  const capped = Math.min(pause, DOOR.maxMs)
  return { pause: capped, lookAt: performance.now() + capped }
}

/**
 * @param error Why a transaction could not be made.
 * @returns `outage` = why no transaction can be made at the moment, whatever its actions;
 * `isClosed` = none can be made that issues; neither when the actions are at fault.
 */
async function causeOf(
  account: Pick<Account, 'assertReady'>,
  error: IssueError,
): Promise<{ outage?: IssueError; isClosed?: boolean }> {
  // Fewer actions fit, whatever the account may do.
  if (error.code === 'too_large') return {}
  if (error.code !== 'registry_refused') return { outage: error }
  try {
    const { mayIssue } = await account.assertReady()
    return { isClosed: !mayIssue }
  } catch (cause) {
    return { outage: asIssueError(cause) }
  }
}
