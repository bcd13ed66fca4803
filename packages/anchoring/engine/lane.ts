import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import { type Action, canBeUndone } from '#promise/action.ts'
import { asIssueError } from '#promise/errors.ts'
import type {
  Account,
  Blocks,
  RegistryReader,
  Sender,
  Sends,
  Transactions,
} from '#promise/ports.ts'
import type { Member, Send, SignedTransaction } from '#promise/send.ts'
import type { BlockTime } from './block-time.ts'
import type { ForeignWatch } from './foreign.ts'
import { createInFlight, type InFlight, type Sending } from './in-flight.ts'
import { createNonces } from './nonces.ts'
import { createReplacing, REBROADCAST_INTERVAL_MS } from './replace.ts'
import { createSettling } from './settle.ts'
import type { Spending } from './spending.ts'
import type { Conclude } from './waiters.ts'

/** The transactions in flight of one account. */
export type Lane = {
  readonly account: Hex
  readonly inFlight: Pick<InFlight, 'sends' | 'unsettled' | 'carries' | 'sendingOf' | 'roundTrip'>
  /** Continues with sends that were left in flight, or are in flight again after a reorg. */
  restore(sends: readonly Send[]): void
  /**
   * Signs a transaction for these members with the account's next nonce, and stores it. From then
   * on it is in flight.
   *
   * @throws {IssueError} when none can be made; the members wait on.
   */
  plan(members: readonly Member[]): Promise<void>
  /**
   * Reads the chain if that is due and settles sends, and then broadcasts those that are due,
   * without waiting for the node's answers. It is in this order because a node may not respond
   * while it makes the next block.
   *
   * @param hold Whether to send nothing yet, because more sends are being planned, and transactions
   * that are sent together can share a block.
   * @throws {IssueError} when the chain could not be reached; everything in flight stays so.
   */
  advance(hold: boolean): Promise<void>
  /**
   * Looks whether transactions can be sent again.
   *
   * @throws {IssueError} when the account cannot write, or with `fee_too_high` when even one action
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
/** How long to wait for the first look at a send whose broadcast no node has answered. */
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
  outbox: Sends
  /** The accounts of the only gateway; see `Sender`. */
  own: Sender['own']
  spending: Spending
  blockTime: BlockTime
  foreign: ForeignWatch
  conclude: Conclude
  /** Called when a node has answered a broadcast, because the chain should then be read. */
  answered: () => void
  /** Called with sends whose outcome is on disk. */
  noted: (sends: readonly Send[]) => void
  /** Called when an outcome could not be written. */
  failed: (error: unknown) => void
  log: Log
}

/**
 * State: the sends in flight with how they were broadcast (`inFlight`), the nonce and gap that were
 * last seen, and when the chain was last read. All of it follows from the database and the chain.
 *
 * Nonces are assigned here when a transaction is signed, in order and without gaps, and everything
 * is durable before it is sent.
 */
export function createLane(deps: LaneDeps): Lane {
  const { address, account, transactions, outbox, spending, blockTime } = deps
  const inFlight = createInFlight()
  const parts = { ...deps, inFlight }
  const timer = createLookTimer()
  const looked = { block: -1, times: 0 }
  const { settle } = createSettling({ ...parts, costOf: spending.costOf })
  const nonces = createNonces(parts)
  const { replaceStuck } = createReplacing(parts)

  /** With slow blocks, the next one is awaited first. */
  const untilRepeat = () => Math.max(REBROADCAST_INTERVAL_MS, 1.25 * (blockTime.interval() ?? 0))
  const failure = () =>
    inFlight
      .sends()
      .map((send) => inFlight.sendingOf(send).failure)
      .find(Boolean)

  /** Broadcasts the newest attempts of sends that are due, always with the same bytes. */
  function broadcast(sends: readonly Send[]): void {
    for (const send of sends) {
      const sending = inFlight.sendingOf(send)
      const newest = send.attempts.at(-1)
      const due = performance.now() - sending.sent >= untilRepeat()
      if (!newest || !due || sending.underWay) continue
      sending.sent = performance.now()
      sending.underWay = broadcastOne(newest, sending).then(() => {
        sending.underWay = undefined
        // The chain should now be read.
        looked.times = LOOKS_PER_BLOCK - 1
        timer.answered()
        deps.answered()
      })
    }
  }

  async function broadcastOne(transaction: SignedTransaction, sending: Sending): Promise<void> {
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
   * Rejects when something could not be sent. After a failure, it first waits for the nodes' answers.
   */
  async function assertSent(): Promise<void> {
    const sends = inFlight.sends()
    if (failure()) await Promise.all(sends.map((send) => inFlight.sendingOf(send).underWay))
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
    if (await settle(next)) {
      for (const nonce of await nonces.gap(next)) await spending.inTurn(() => fill(nonce))
      if (await replaceStuck()) broadcast(inFlight.sends())
    }
    const [oldest] = inFlight.sends()
    timer.looked(oldest && inFlight.sendingOf(oldest).made)
  }

  const sender: Sender = { account: address, own: deps.own }

  async function makeSend(members: readonly Member[]): Promise<Send> {
    const actions = members.map(({ action }) => action)
    const [nonce, head] = await Promise.all([
      nonces.next(),
      actions.some(canBeUndone) ? deps.blocks.head() : undefined,
    ])
    const transaction = await prepare(deps, actions, nonce)
    const send = await outbox.plan(sender, transaction, members, head?.number)
    inFlight.add([send])
    return send
  }

  /** Uses a nonce that nothing has, by an empty transfer. */
  async function fill(nonce: number): Promise<void> {
    const transaction = await prepare(deps, [], nonce)
    inFlight.add([await outbox.plan(sender, transaction, [])])
  }

  return {
    account: address,
    inFlight,
    restore: inFlight.add,

    async plan(members) {
      const { id } = await spending.inTurn(() => makeSend(members))
      const sendNow = () => broadcast(inFlight.sends().filter((one) => one.id === id))
      setTimeout(sendNow, SEND_TIMEOUT_MS).unref()
      timer.planned(inFlight.sends().length === 1)
    },

    async advance(hold) {
      if (inFlight.sends().length === 0) return
      try {
        if (pause() <= 0) await lookAround()
      } finally {
        if (!hold) broadcast(inFlight.sends())
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

/** Signs a transaction under the caps. */
async function prepare(
  { spending, transactions }: Pick<LaneDeps, 'spending' | 'transactions'>,
  actions: readonly Action[],
  nonce: number,
): Promise<SignedTransaction> {
  const maxFee = await spending.allowance()
  return transactions.prepare(actions, { nonce, ...(maxFee !== undefined && { maxFee }) })
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
   * Call this when a send was planned.
   *
   * @param isOnly Whether no other one is in flight.
   */
  planned(isOnly: boolean): void
  /**
   * @param oldestMade When the oldest send that is still in flight was signed; `undefined` = none
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
