import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import { asIssueError, type IssueError } from '#promise/errors.ts'
import type { Intent } from '#promise/intent.ts'
import { type Lease, type Leases, leaseOfAccount } from '#promise/lease.ts'
import type { SharedBacklog } from '#promise/ports.ts'
import type { Engine } from './engine.ts'
import type { Answers } from './front.ts'

/** An engine for one lease of its account. */
export type LeasedEngine = {
  engine: Engine
  backlog: SharedBacklog
  /** @throws {IssueError} when the account cannot write. */
  assertReady(): Promise<void>
  /** @throws {IssueError} when something else writes with it. */
  assertAlone(): Promise<void>
}

/** An engine that was started. */
export type Running = LeasedEngine & {
  account: Hex
  lease: Lease
  /** Whether it gets new intents. */
  isOwn: boolean
  /** Claims intents that it may send. */
  claim: (limit: number) => Promise<Intent[]>
  /** Since when it cannot anchor anything; `performance.now()`. */
  stoppedAt?: number | undefined
  /** Why the account cannot write; it may still be drained. */
  unusable?: IssueError
}

/** Leases accounts, and starts their engines. */
export type Starting = {
  /**
   * Leases the first of these accounts that can be used, and starts its engine.
   *
   * @param isOwn Whether it gets new intents.
   * @returns `undefined` when none can be used now.
   */
  start(accounts: readonly Hex[], isOwn: boolean): Promise<Running | undefined>
  /** Leaves an account alone for a while. */
  rest(account: Hex, error: IssueError): void
  /** @returns Why none of these accounts can be used; `undefined` when another gateway has one. */
  failure(accounts: readonly Hex[]): IssueError | undefined
}

/**
 * @param deps.ended Called when the lease of a started engine has ended.
 * @param restMs How long an account rests that could not be used.
 */
export function createStarting(
  deps: {
    leases: Leases
    /** Whether there is no other gateway that could do what this one cannot. */
    isSole: boolean
    /** Makes an engine whose writes have effect only while the lease lasts. */
    open: (account: Hex, lease: Lease, answers: Answers) => LeasedEngine
    log: Log
    front: Answers
    ended: (one: Running) => void
  },
  restMs: number,
): Starting {
  const { leases, log } = deps
  /** Why an account could not be used, and when it is tried again; `performance.now()`. */
  const failed = new Map<Hex, { error: IssueError; until: number }>()

  function rest(account: Hex, error: IssueError): void {
    failed.set(account, { error, until: performance.now() + restMs })
  }

  async function begin(one: Running): Promise<void> {
    if (one.isOwn) {
      await one.assertReady()
      await one.assertAlone()
      if (deps.isSole) await one.backlog.adopt()
    } else {
      await one.backlog.disclaim()
      one.claim = one.backlog.claimRevisions
      await one.assertReady().catch((error) => {
        one.unusable = asIssueError(error)
        one.claim = async () => []
      })
    }
    await one.engine.start()
    one.lease.ended.throwIfAborted()
  }

  async function start(accounts: readonly Hex[], isOwn: boolean): Promise<Running | undefined> {
    const now = performance.now()
    const rested = accounts.filter((account) => (failed.get(account)?.until ?? 0) <= now)
    if (rested.length === 0) return undefined
    const lease = await leases.take(rested.map(leaseOfAccount))
    if (lease === undefined) {
      // Other gateways have them.
      for (const account of rested) failed.delete(account)
      return undefined
    }
    const account = accounts.find((one) => leaseOfAccount(one) === lease.name) ?? '0x'
    const leased = deps.open(account, lease, deps.front)
    const one: Running = { ...leased, account, lease, isOwn, claim: leased.backlog.claim }
    lease.ended.addEventListener('abort', () => deps.ended(one))
    try {
      await begin(one)
      failed.delete(account)
      log.info('account_leased', { account, token: lease.token, isOwn })
      return one
    } catch (cause) {
      const error = asIssueError(cause)
      log.warn('account_not_usable', { account, code: error.code, error: error.message })
      rest(account, error)
      await lease.release().catch(() => {})
      return start(
        rested.filter((other) => other !== account),
        isOwn,
      )
    }
  }

  return {
    rest,
    start,
    failure(accounts) {
      const errors = accounts.flatMap((account) => failed.get(account)?.error ?? [])
      return errors.length === accounts.length ? errors[0] : undefined
    },
  }
}
