import type { Hex } from '../../document/hex.ts'
import type { Log } from '../log.ts'
import { asIssueError, type IssueError } from './errors.ts'
import { keyOf, keyOfIntent } from './intent.ts'
import { type Outcome, outcomesOfPlans } from './outcome.ts'
import type {
  Intent,
  Outbox,
  Plan,
  Registry,
  SignedTransaction,
} from './ports.ts'

export type Sender = {
  /** How many transactions are in flight. */
  inFlight(): number
  /** Whether a transaction in flight carries this intent. */
  carries(kind: Intent['kind'], documentHash: Hex): boolean
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
  /** Milliseconds until there is something to look at; `answered` may come before. */
  pause(): number
  /** Milliseconds that the last transaction took from being made until the chain showed what became of it. */
  roundTrip(): number
}

/** How often the same bytes are sent again while the chain does not show them; milliseconds. */
const REBROADCAST = 5_000
/** A transaction that is in no block for so long is replaced when it pays too little, after twice as long anyway; milliseconds. */
const STUCK = 30_000
/** How long a nonce may be missing before it counts as lost, and not as a node that is behind; milliseconds. */
const GAP = 3_000
/** How long the next nonce is taken from the last look at the chain; milliseconds. */
const NONCE_KEPT = 250
/** How long a node may contradict itself before that counts as an outage; milliseconds. */
const UNCLEAR = 2_000
/** Between looks at transactions in flight; milliseconds. */
const POLL = { first: 2, most: 250 }

const ABSENT: Outcome = { status: 'absent' }

/** After so long a transaction is sent also while a look at the chain hangs, as it does where a node is down; milliseconds. */
const SENT_BY = 100

/** The same while no node has answered to the newest of them. */
const POLL_UNANSWERED = 50

/** How sending the newest attempt of a plan goes. Times are milliseconds that no change of the clock touches. */
type Sending = {
  sent: number
  made: number
  /** A node has taken it. */
  taken: boolean
  /** Until the nodes have answered. */
  underWay: Promise<void> | undefined
  /** Why it could not be sent the last time. */
  failure: IssueError | undefined
}

/**
 * The transactions in flight of the one account that this gateway writes with. Nonces are assigned here, at the moment of signing,
 * in order and without gaps, and everything is durable before it is sent. A repeat is harmless on the registry, so when it is
 * not clear what happened to a nonce, what it carried is simply done again.
 */
export function createSender(deps: {
  registry: Registry
  outbox: Outbox
  /** Told what became of an intent, and of all transactions that could have carried it. */
  conclude: (
    intent: Intent,
    outcome: Outcome,
    transactions: ReadonlySet<Hex>,
  ) => void
  /** Told when a node has answered to a transaction, or the outbox has noted an outcome: it is time to look. */
  answered: () => void
  log: Log
}): Sender {
  const { registry, outbox, conclude, answered, log } = deps
  let plans = outbox.plans()
  const carried = new Set(
    plans.flatMap(({ intents }) => intents.map(keyOfIntent)),
  )
  const sendings = new Map<number, Sending>()
  let gapSince: number | undefined
  /** How often nonces were lost. */
  let gaps = 0
  let unclearSince: number | undefined
  let seen = { nonce: 0, at: Number.NEGATIVE_INFINITY }
  let poll = 0
  let lookAt = 0
  let roundTrip = Number.POSITIVE_INFINITY

  const sendingOf = ({ id }: Plan): Sending => {
    const known = sendings.get(id)
    if (known) return known
    const sending = {
      sent: Number.NEGATIVE_INFINITY,
      made: performance.now(),
      taken: false,
      underWay: undefined,
      failure: undefined,
    }
    sendings.set(id, sending)
    return sending
  }

  function send(which: readonly Plan[]): void {
    for (const plan of which) {
      const sending = sendingOf(plan)
      const newest = plan.attempts.at(-1)
      const due = performance.now() - sending.sent >= REBROADCAST
      if (!newest || !due || sending.underWay) continue
      sending.sent = performance.now()
      sending.underWay = sendOne(newest, sending).then(() => {
        sending.underWay = undefined
        lookAt = 0
        answered()
      })
    }
  }

  async function sendOne(
    transaction: SignedTransaction,
    sending: Sending,
  ): Promise<void> {
    try {
      await registry.broadcast(transaction)
      sending.taken = true
      sending.failure = undefined
    } catch (cause) {
      const error = asIssueError(cause)
      sending.failure = error
      // Not sent at all: try as soon as the chain answers.
      if (error.code === 'chain_unavailable')
        sending.sent = Number.NEGATIVE_INFINITY
      // Underpriced: the node has another attempt of this nonce, which is to be outbid.
      else sending.taken = /underpriced/i.test(error.message)
    }
  }

  const failureNow = (): IssueError | undefined =>
    plans.map((plan) => sendingOf(plan).failure).find(Boolean)

  /** After trouble, whether it is over is known when the nodes have answered. */
  async function retries(): Promise<void> {
    if (failureNow())
      await Promise.all(plans.map((plan) => sendingOf(plan).underWay))
  }

  async function lookAround(): Promise<void> {
    const next = await look()
    if (await settle(next)) {
      await closeGap(next)
      await replaceStuck()
    }
    poll = Math.min(Math.max(poll * 2, POLL.first), POLL.most)
    lookAt = performance.now() + poll
  }

  /**
   * A nonce that is used is done with, whichever transaction used it.
   *
   * @returns Whether all of them are settled. Right after a block, nodes contradict themselves for a moment (records without events;
   *   behind a load balancer, another node that is behind): then it is looked at again.
   */
  async function settle(next: number): Promise<boolean> {
    const used = plans.filter(({ nonce }) => nonce < next)
    const error = used.length === 0 ? undefined : await trySettling(used)
    if (error === undefined) {
      unclearSince = undefined
      return true
    }
    unclearSince ??= performance.now()
    if (performance.now() - unclearSince >= UNCLEAR) throw error
    return false
  }

  async function trySettling(used: readonly Plan[]): Promise<unknown> {
    try {
      await settleAll(used)
      return undefined
    } catch (error) {
      if (used.length === 1) return error
      // What one transaction runs into must not keep the others from being settled.
      const settled = await Promise.allSettled(
        used.map((plan) => settleAll([plan])),
      )
      return settled.find((one) => one.status === 'rejected')?.reason
    }
  }

  async function settleAll(used: readonly Plan[]): Promise<void> {
    const intents = used.flatMap((plan) => plan.intents)
    const outcomes = await outcomesOfPlans(registry, used)
    // What the registry shows stays so without our own note of it: nobody waits for the disk.
    concludeAll(used, outcomes, (outcome) => outcome.status === 'anchored')
    for (const plan of used)
      roundTrip = performance.now() - sendingOf(plan).made
    plans = plans.filter((plan) => !used.includes(plan))
    note(used, intents, outcomes).catch((error) => {
      plans = [...used, ...plans]
      for (const plan of used) sendingOf(plan).failure = asIssueError(error)
      answered()
    })
  }

  async function note(
    used: readonly Plan[],
    intents: readonly Intent[],
    outcomes: readonly Outcome[],
  ): Promise<void> {
    const outcomeOf = new Map(
      intents.map((intent, i) => [intent, outcomes[i] ?? ABSENT] as const),
    )
    await Promise.all(used.map((plan) => noteOne(plan, outcomeOf)))
    for (const plan of used) drop(plan)
    concludeAll(used, outcomes, (outcome) => outcome.status !== 'anchored')
    // What waited for these may go now.
    answered()
  }

  function noteOne(
    plan: Plan,
    outcomeOf: ReadonlyMap<Intent, Outcome>,
  ): Promise<void> {
    const anchored = plan.intents.flatMap((intent) => {
      const outcome = outcomeOf.get(intent)
      return outcome?.status === 'anchored'
        ? [{ intent, anchoring: outcome }]
        : []
    })
    const gone = plan.intents.filter((intent) => {
      const { status } = outcomeOf.get(intent) ?? ABSENT
      return status !== 'anchored' && status !== 'absent'
    })
    return outbox.settle(plan, { anchored, gone })
  }

  /** @param outcomes Of the intents of these plans, in their order. */
  function concludeAll(
    used: readonly Plan[],
    outcomes: readonly Outcome[],
    which: (outcome: Outcome) => boolean,
  ): void {
    const transactions = hashesOf(used)
    const intents = used.flatMap((plan) => plan.intents)
    intents.forEach((intent, i) => {
      const outcome = outcomes[i] ?? ABSENT
      if (which(outcome)) conclude(intent, outcome, transactions)
    })
  }

  async function look(): Promise<number> {
    seen = { nonce: await registry.nextNonce(), at: performance.now() }
    return seen.nonce
  }

  async function newNonce(): Promise<number> {
    const last = plans.at(-1)
    if (last) return last.nonce + 1
    return performance.now() - seen.at < NONCE_KEPT ? seen.nonce : look()
  }

  /** Anew when the nonces that its own follows on were lost meanwhile. */
  async function prepare(
    intents: readonly Intent[],
  ): Promise<SignedTransaction> {
    const before = gaps
    const transaction = await registry.prepare(intents, await newNonce())
    return before === gaps ? transaction : prepare(intents)
  }

  /**
   * The chain went back behind the first nonce in flight (a reorg, a node that lost its state), so that none of these can be
   * mined: their intents get new ones.
   */
  async function closeGap(next: number): Promise<void> {
    const [first] = plans
    if (first === undefined || first.nonce <= next) {
      gapSince = undefined
      return
    }
    gapSince ??= performance.now()
    if (performance.now() - gapSince < GAP) return
    gapSince = undefined
    gaps++
    log.warn('nonces_lost', { from: next, to: first.nonce })
    for (const plan of [...plans]) {
      await outbox.settle(plan, { anchored: [], gone: [] })
      drop(plan)
      concludeAll([plan], [], () => true)
    }
  }

  /**
   * The first in flight is made anew when no node takes it, or when it is in no block for long and pays less than the chain asks
   * for. The others wait for it.
   */
  async function replaceStuck(): Promise<void> {
    const [plan] = plans
    const newest = plan?.attempts.at(-1)
    if (!plan || !newest) return
    const sending = sendingOf(plan)
    const age = performance.now() - sending.made
    if (age < (sending.taken ? STUCK : REBROADCAST)) return
    // One that pays enough may still be such that no block can have it; but it is not outbid in a hurry.
    if (sending.taken && age < 2 * STUCK && (await registry.pays(newest)))
      return
    sending.made = performance.now()
    // What no node has taken, for lack of funds say, is not to be outbid: it would only grow dearer.
    const transaction = await registry.prepare(
      plan.intents,
      plan.nonce,
      sending.taken ? newest : undefined,
    )
    if (transaction.hash === newest.hash) return
    const replaced = await outbox.replace(plan, transaction)
    plans = plans.map((other) => (other === plan ? replaced : other))
    sending.sent = Number.NEGATIVE_INFINITY
    log.info('transaction_replaced', {
      nonce: plan.nonce,
      hash: transaction.hash,
    })
    send(plans)
  }

  function drop(plan: Plan): void {
    plans = plans.filter((other) => other !== plan)
    sendings.delete(plan.id)
    for (const intent of plan.intents) carried.delete(keyOfIntent(intent))
    poll = 0
  }

  return {
    inFlight: () => plans.length,
    carries: (kind, documentHash) => carried.has(keyOf(kind, documentHash)),

    async plan(intents) {
      const transaction = await prepare(intents)
      const plan = await outbox.plan(transaction, intents)
      plans = [...plans, plan]
      for (const intent of intents) carried.add(keyOfIntent(intent))
      setTimeout(
        () => send(plans.filter(({ id }) => id === plan.id)),
        SENT_BY,
      ).unref()
      poll = 0
      const soon = performance.now() + POLL_UNANSWERED
      lookAt = plans.length === 1 ? soon : Math.min(lookAt, soon)
    },

    async advance(hold) {
      if (plans.length === 0) return
      try {
        if (performance.now() >= lookAt) await lookAround()
      } finally {
        if (!hold) send(plans)
      }
      await retries()
      const failure = failureNow()
      if (failure) throw failure
    },

    pause: () => Math.max(0, lookAt - performance.now()),
    roundTrip: () => roundTrip,
  }
}

function hashesOf(plans: readonly Plan[]): Set<Hex> {
  return new Set(
    plans.flatMap(({ attempts }) => attempts.map(({ hash }) => hash)),
  )
}
