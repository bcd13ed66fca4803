import type { Log } from '#base/log.ts'
import { createLookTimer } from '#base/look-timer.ts'
import { canBeUndone, type Intent } from '#promise/intent.ts'
import type { Plan, SignedTransaction } from '#promise/plan.ts'
import type {
  Account,
  Blocks,
  FeeLog,
  Plans,
  RegistryReader,
  Transactions,
} from '#promise/ports.ts'
import type { BlockTime } from './block-time.ts'
import { createBroadcaster } from './broadcast.ts'
import type { ForeignWatch } from './foreign.ts'
import type { InFlight } from './in-flight.ts'
import { createNonces, type Nonces } from './nonces.ts'
import { createReplacing } from './replace.ts'
import { type Conclude, createSettling } from './settle.ts'
import { createSpending, type FeeCaps, type Spending } from './spending.ts'

export type Sender = {
  /** Continues with the transactions that an earlier process left in flight. */
  restore(): Promise<void>
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
  /** Rejects with `fee_too_high` when even one intent would cost more than the caps allow. */
  assertAffordable(): Promise<void>
  /** @returns The wei spent in the last hour, plus the maximum cost of transactions in flight. */
  spentLastHour(): Promise<bigint>
  /** @returns The milliseconds until the next read; `answered` may come before. */
  pause(): number
  /**
   * @returns The milliseconds from signing the last transaction until the chain showed its outcome.
   */
  roundTrip(): number
}

/**
 * The reads of the chain for each new block, where blocks come by themselves: one node may have the
 * block, and another one the nonce before it.
 */
const LOOKS_PER_BLOCK = 2
/** The time until a new block is noticed, once it was seen. */
const NOTICE_MS = 50
/**
 * After this time a transaction is sent even if a read of the chain hangs, as it does when a node
 * is down.
 */
const SEND_TIMEOUT_MS = 100

type SenderDeps = {
  inFlight: InFlight
  account: Account
  transactions: Transactions
  registry: RegistryReader
  blocks: Blocks
  outbox: Plans & FeeLog
  feeCaps: FeeCaps
  blockTime: BlockTime
  foreign: ForeignWatch
  conclude: Conclude
  /** Called when a node has answered a broadcast, because the chain should then be read. */
  answered: () => void
  /** Receives intents whose outcome is on disk; none when the write failed. */
  noted: (intents: readonly Intent[]) => void
  log: Log
}

/**
 * The transactions in flight of the account with which this gateway writes. Nonces are assigned
 * here when a transaction is signed, in order and without gaps, and everything is durable before it
 * is sent. A repeat is harmless in the registry, so if the outcome of a nonce is unclear, its
 * intents are simply queued again.
 */
export function createSender(deps: SenderDeps): Sender {
  const { inFlight, transactions, registry, outbox, feeCaps, blockTime, answered } = deps
  const timer = createLookTimer()
  const looked = { block: -1, times: 0 }
  const spending = createSpending(feeCaps, outbox, registry, inFlight.unsettled)
  const { send, assertSent } = createBroadcaster({
    ...deps,
    answered: () => {
      looked.times = LOOKS_PER_BLOCK - 1
      timer.answered()
      answered()
    },
  })
  const { settle, abandon, roundTrip } = createSettling({ ...deps, costOf: spending.costOf })
  const nonces = createNonces({ ...deps, abandon })
  const { replaceStuck } = createReplacing({ ...deps, spending })

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
    const plan = await outbox.plan(transaction, intents, head?.number)
    inFlight.add([plan])
    return plan
  }

  return {
    async restore() {
      inFlight.add(await outbox.plans())
    },

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

    assertAffordable: async () => transactions.assertAffordable(await spending.allowance()),
    spentLastHour: spending.lastHour,

    pause,
    roundTrip,
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
