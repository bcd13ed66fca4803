import type { Log } from '../log.ts'
import type { BlockTime } from './block-time.ts'
import { createBroadcaster } from './broadcast.ts'
import { createInFlight } from './in-flight.ts'
import type { IntentKey } from './intent.ts'
import { createNonces } from './nonces.ts'
import type {
  Account,
  Blocks,
  FeeLog,
  Intent,
  Plan,
  Plans,
  RegistryReader,
  SignedTransaction,
  Transactions,
} from './ports.ts'
import { createReplacing } from './replace.ts'
import { type Conclude, createSettling } from './settle.ts'
import { createSpending, type FeeCaps } from './spending.ts'

export type Sender = {
  /** Takes up the transactions that an earlier process left in flight. */
  restore(): Promise<void>
  /** How many transactions are in flight. */
  inFlight(): number
  /** Whether a transaction in flight carries this intent. */
  carries(key: IntentKey): boolean
  /**
   * Signs a transaction for these intents with the account's next nonce, and makes it durable. It is in flight then.
   *
   * @throws {IssueError} when none can be made; the intents are where they were.
   */
  plan(intents: readonly Intent[]): Promise<void>
  /**
   * Looks at the chain when that is due, and concludes what has happened there; sends what is due, without waiting for the node's
   * answers. In this order, since a node may answer nothing while it makes the next block.
   *
   * @param hold Nothing is sent yet: more is being planned, and what is sent together can share a block.
   * @throws {IssueError} when the chain could not be reached; everything in flight stays so.
   */
  advance(hold: boolean): Promise<void>
  /** Rejects with `fee_too_high` when no transaction may be made for what it would cost. */
  assertAffordable(): Promise<void>
  /** Wei of the last hour, with all that those in flight may cost. */
  spentLastHour(): Promise<bigint>
  /** Milliseconds until there is something to look at; `answered` may come before. */
  pause(): number
  /** When the oldest transaction in flight was made; `performance.now()`. */
  oldestMade(): number | undefined
  /** Milliseconds that the last transaction took from being made until the chain showed what became of it. */
  roundTrip(): number
}

/** Between looks at transactions in flight. */
const POLL = { firstMs: 2, maxMs: 250 }
/** The same while no node has answered to the newest of them. */
const POLL_UNANSWERED_MS = 50
/** After so long a transaction is sent also while a look at the chain hangs, as it does where a node is down. */
const SEND_TIMEOUT_MS = 100

/**
 * The transactions in flight of the one account that this gateway writes with. Nonces are assigned here, at the moment of signing,
 * in order and without gaps, and everything is durable before it is sent. A repeat is harmless on the registry, so when it is
 * not clear what happened to a nonce, what it carried is simply done again.
 */
export function createSender(deps: {
  account: Account
  transactions: Transactions
  registry: RegistryReader
  blocks: Blocks
  outbox: Plans & FeeLog
  feeCaps: FeeCaps
  blockTime: BlockTime
  conclude: Conclude
  /** Called when a node has answered to a transaction: it is time to look. */
  answered: () => void
  /** Receives the intents whose outcome the outbox has noted; none when it could not. */
  noted: (intents: readonly Intent[]) => void
  log: Log
}): Sender {
  const { transactions, registry, outbox, feeCaps, answered } = deps
  const inFlight = createInFlight()
  const spending = createSpending(feeCaps, outbox, registry, inFlight.unsettled)
  const { send, assertSent } = createBroadcaster(inFlight, transactions, () => {
    lookAt = 0
    answered()
  })
  const { costOf } = spending
  const settling = createSettling({
    ...{ ...deps, inFlight, costOf },
  })
  const { abandon } = settling
  const nonces = createNonces({ ...deps, inFlight, abandon })
  const { replaceStuck } = createReplacing({
    ...{ ...deps, inFlight, spending },
  })
  let poll = 0
  let lookAt = 0

  async function lookAround(): Promise<void> {
    const next = await nonces.look()
    const before = inFlight.plans()
    const isSettled = await settling.settle(next)
    nonces.settled(before.filter(({ nonce }) => nonce < next))
    if (isSettled) {
      await nonces.closeGap(next)
      if (await replaceStuck()) send(inFlight.plans())
    }
    if (inFlight.plans().length < before.length) poll = 0
    poll = Math.min(Math.max(poll * 2, POLL.firstMs), POLL.maxMs)
    lookAt = performance.now() + poll
  }

  /** Anew when the nonces that its own follows on were lost meanwhile. */
  async function prepare(intents: readonly Intent[]): Promise<SignedTransaction> {
    const before = nonces.losses()
    const [nonce, maxFee] = await Promise.all([nonces.next(), spending.allowance()])
    const transaction = await transactions.prepare(intents, {
      ...{ nonce, ...(maxFee !== undefined && { maxFee }) },
    })
    return before === nonces.losses() ? transaction : prepare(intents)
  }

  async function makePlan(intents: readonly Intent[]): Promise<Plan> {
    const transaction = await prepare(intents)
    const plan = await outbox.plan(transaction, intents)
    inFlight.add([plan])
    return plan
  }

  return {
    async restore() {
      inFlight.add(await outbox.plans())
    },
    inFlight: () => inFlight.plans().length,
    carries: inFlight.carries,

    async plan(intents) {
      const { id } = await spending.inTurn(() => makePlan(intents))
      const sendPlan = () => send(inFlight.plans().filter((one) => one.id === id))
      setTimeout(sendPlan, SEND_TIMEOUT_MS).unref()
      poll = 0
      const soon = performance.now() + POLL_UNANSWERED_MS
      lookAt = inFlight.plans().length === 1 ? soon : Math.min(lookAt, soon)
    },

    async advance(hold) {
      if (inFlight.plans().length === 0) return
      try {
        if (performance.now() >= lookAt) await lookAround()
      } finally {
        if (!hold) send(inFlight.plans())
      }
      await assertSent()
    },

    assertAffordable: async () => transactions.assertAffordable(await spending.allowance()),
    spentLastHour: spending.lastHour,

    pause: () => Math.max(0, lookAt - performance.now()),
    oldestMade() {
      const [oldest] = inFlight.plans()
      return oldest && inFlight.sendingOf(oldest).made
    },
    roundTrip: settling.roundTrip,
  }
}
