import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import { asIssueError } from '#promise/errors.ts'
import { canBeUndone, type Intent } from '#promise/intent.ts'
import type { Plan, SignedTransaction } from '#promise/plan.ts'
import type { Account, Blocks, Plans, RegistryReader, Transactions } from '#promise/ports.ts'
import type { BlockTime } from './block-time.ts'
import type { ForeignWatch } from './foreign.ts'
import { createInFlight, type InFlight, type Sending } from './in-flight.ts'
import { createNonces, type Nonces } from './nonces.ts'
import { createReplacing, REBROADCAST_INTERVAL_MS } from './replace.ts'
import { createSettling } from './settle.ts'
import type { Spending } from './spending.ts'
import type { Conclude } from './waiters.ts'

/** The transactions in flight of one account. */
export type Lane = {
  readonly account: Hex
  readonly inFlight: Pick<InFlight, 'plans' | 'unsettled' | 'carries' | 'sendingOf' | 'roundTrip'>
  /** Continues with the transactions that were left in flight. */
  restore(plans: readonly Plan[]): void
  /**
   * Signs a transaction for these intents with the account's next nonce, and stores it. From then
   * on it is in flight.
   *
   * @throws {IssueError} when none can be made; the intents stay queued.
   */
  plan(intents: readonly Intent[]): Promise<void>
  /**
   * Reads the chain if that is due and settles plans, and then broadcasts plans that are due,
   * without waiting for the node's answers. It is in this order because a node may not respond
   * while it makes the next block.
   *
   * @param hold Whether to send nothing yet, because more plans are being made, and transactions
   * that are sent together can share a block.
   * @throws {IssueError} when the chain could not be reached; everything in flight stays so.
   */
  advance(hold: boolean): Promise<void>
  /**
   * Looks whether transactions can be sent again.
   *
   * @throws {IssueError} when the account cannot write, or with `fee_too_high` when even one intent
   * would cost more than the caps allow.
   */
  assertReady(): Promise<void>
  /** @returns The milliseconds until the next read; `answered` may come before. */
  pause(): number
}

/**
 * The reads of the chain for each new block, where blocks come by themselves: one node may have the
 * block, and another one the nonce before it.
 */
const LOOKS_PER_BLOCK = 2
/** The time until a new block is noticed, once it was seen. */
const NOTICE_MS = 50
/**
 * The time between looks at transactions in flight, as a fraction of the age of the oldest, with
 * its limits. So the delay in noticing a block is a small part of the time that the block took.
 */
const LOOK = { part: 1 / 8, minMs: 2, maxMs: 250 }
/** How long to wait for the first look at a plan whose broadcast no node has answered. */
const UNANSWERED_MS = 50
/**
 * After this time a transaction is sent even if a read of the chain hangs, as it does when a node
 * is down.
 */
const SEND_TIMEOUT_MS = 100

export type LaneDeps = {
  address: Hex
  account: Account
  transactions: Transactions
  registry: RegistryReader
  blocks: Blocks
  outbox: Plans
  spending: Spending
  blockTime: BlockTime
  foreign: ForeignWatch
  conclude: Conclude
  /** Called when a node has answered a broadcast, because the chain should then be read. */
  answered: () => void
  /** Called with plans whose outcome is on disk. */
  noted: (plans: readonly Plan[]) => void
  /** Called when an outcome could not be written. */
  failed: (error: unknown) => void
  log: Log
}

/**
 * State: the plans in flight with how they were sent (`inFlight`), the nonce and gap that were last
 * seen, and when the chain was last read. All of it follows from the database and the chain.
 *
 * Nonces are assigned here when a transaction is signed, in order and without gaps, and everything
 * is durable before it is sent. A repeat is harmless in the registry, so if the outcome of a nonce
 * is unclear, its intents are simply queued again.
 */
export function createLane(deps: LaneDeps): Lane {
  const { address, account, transactions, outbox, spending, blockTime } = deps
  const inFlight = createInFlight()
  const parts = { ...deps, inFlight }
  const timer = createLookTimer()
  const looked = { block: -1, times: 0 }
  const { settle, abandon } = createSettling({ ...parts, costOf: spending.costOf })
  const nonces = createNonces({ ...parts, abandon })
  const { replaceStuck } = createReplacing(parts)

  /** With slow blocks, the next one is awaited first. */
  const untilRepeat = () => Math.max(REBROADCAST_INTERVAL_MS, 1.25 * (blockTime.interval() ?? 0))
  const failure = () =>
    inFlight
      .plans()
      .map((plan) => inFlight.sendingOf(plan).failure)
      .find(Boolean)

  /** Sends the newest attempts of plans that are due, always with the same bytes. */
  function send(plans: readonly Plan[]): void {
    for (const plan of plans) {
      const sending = inFlight.sendingOf(plan)
      const newest = plan.attempts.at(-1)
      const due = performance.now() - sending.sent >= untilRepeat()
      if (!newest || !due || sending.underWay) continue
      sending.sent = performance.now()
      sending.underWay = sendOne(newest, sending).then(() => {
        sending.underWay = undefined
        // The chain should now be read.
        looked.times = LOOKS_PER_BLOCK - 1
        timer.answered()
        deps.answered()
      })
    }
  }

  async function sendOne(transaction: SignedTransaction, sending: Sending): Promise<void> {
    try {
      // If the nonce is occupied, most likely by an earlier attempt, one of the two will be mined.
      await transactions.broadcast(transaction)
      sending.taken = true
      sending.retries = 0
      sending.failure = undefined
    } catch (cause) {
      const error = asIssueError(cause)
      sending.failure = error
      // The transaction was not sent at all, so it is retried as soon as the chain answers.
      if (error.code === 'chain_unavailable') sending.sent = Number.NEGATIVE_INFINITY
      else sending.taken = false
    }
  }

  /**
   * Rejects when a plan could not be sent. After a failure, it first waits for the nodes' answers.
   */
  async function assertSent(): Promise<void> {
    const plans = inFlight.plans()
    if (failure()) await Promise.all(plans.map((plan) => inFlight.sendingOf(plan).underWay))
    const error = failure()
    if (error) throw error
  }

  /** @returns The milliseconds until the chain may show something that the last look did not. */
  function pause(): number {
    const newest = blockTime.newest()
    if (newest === undefined) return timer.left()
    if (newest !== looked.block) return 0
    return looked.times < LOOKS_PER_BLOCK ? timer.left() : NOTICE_MS
  }

  function noteLook(): void {
    const newest = blockTime.newest() ?? -1
    looked.times = newest === looked.block ? looked.times + 1 : 1
    looked.block = newest
  }

  async function lookAround(): Promise<void> {
    noteLook()
    const next = await nonces.look()
    const before = inFlight.plans()
    const isSettled = await settle(next)
    nonces.settled(before.filter(({ nonce }) => nonce < next))
    if (isSettled) {
      await nonces.closeGap(next)
      if (await replaceStuck()) send(inFlight.plans())
    }
    const [oldest] = inFlight.plans()
    timer.looked(oldest && inFlight.sendingOf(oldest).made)
  }

  async function makePlan(intents: readonly Intent[]): Promise<Plan> {
    const [transaction, head] = await Promise.all([
      prepare({ nonces, spending, transactions }, intents),
      intents.some(canBeUndone) ? deps.blocks.head() : undefined,
    ])
    const plan = await outbox.plan(address, transaction, intents, head?.number)
    inFlight.add([plan])
    return plan
  }

  return {
    account: address,
    inFlight,
    restore: inFlight.add,

    async plan(intents) {
      const { id } = await spending.inTurn(() => makePlan(intents))
      const sendPlan = () => send(inFlight.plans().filter((one) => one.id === id))
      setTimeout(sendPlan, SEND_TIMEOUT_MS).unref()
      timer.planned(inFlight.plans().length === 1)
    },

    async advance(hold) {
      if (inFlight.plans().length === 0) return
      try {
        if (pause() <= 0) await lookAround()
      } finally {
        if (!hold) send(inFlight.plans())
      }
      await assertSent()
    },

    async assertReady() {
      await account.assertReady()
      await transactions.assertAffordable(await spending.allowance())
    },

    pause,
  }
}

/**
 * Signs a transaction with the next nonce. Starts over when nonces were lost meanwhile, because its
 * own may follow one of them.
 */
async function prepare(
  parts: { nonces: Nonces; spending: Spending; transactions: Transactions },
  intents: readonly Intent[],
): Promise<SignedTransaction> {
  const { nonces, spending, transactions } = parts
  const before = nonces.losses()
  const [nonce, maxFee] = await Promise.all([nonces.next(), spending.allowance()])
  const transaction = await transactions.prepare(intents, {
    nonce,
    ...(maxFee !== undefined && { maxFee }),
  })
  return before === nonces.losses() ? transaction : prepare(parts, intents)
}

/**
 * Decides when to look at the chain again, which is less and less often until something changes.
 */
export type LookTimer = {
  /** @returns The milliseconds until the next look is due. */
  left(): number
  /** Call this when a node has answered a broadcast, because a look is then due. */
  answered(): void
  /**
   * Call this when a plan was made.
   *
   * @param isOnly Whether no other plan is in flight.
   */
  planned(isOnly: boolean): void
  /**
   * @param oldestMade When the oldest plan that is still in flight was signed; `undefined` = none
   * is.
   */
  looked(oldestMade: number | undefined): void
}

/** All times are those of `now`, in milliseconds. */
export function createLookTimer(now: () => number = () => performance.now()): LookTimer {
  let nextAt = 0

  return {
    left: () => Math.max(0, nextAt - now()),
    answered() {
      nextAt = 0
    },
    planned(isOnly) {
      const soon = now() + UNANSWERED_MS
      nextAt = isOnly ? soon : Math.min(nextAt, soon)
    },
    looked(oldestMade = now()) {
      const interval = LOOK.part * (now() - oldestMade)
      nextAt = now() + Math.min(Math.max(interval, LOOK.minMs), LOOK.maxMs)
    },
  }
}
