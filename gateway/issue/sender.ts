import type { Hex } from '../../document/hex.ts'
import { asIssueError, type IssueError } from './errors.ts'
import { keyOf, keyOfIntent } from './intent.ts'
import { type Outcome, outcomesOf } from './outcome.ts'
import type { Intent, Outbox, Plan, Registry } from './ports.ts'

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
   * Sends what is due, looks at the chain, and concludes what has happened there.
   *
   * @throws {IssueError} when the chain could not be reached; everything in flight stays so.
   */
  advance(): Promise<void>
  /** Milliseconds to wait before the next `advance`. */
  pause(): number
}

/** How often the same bytes are sent again while the chain does not show them; milliseconds. */
const REBROADCAST = 5_000
/** A transaction that is in no block for so long is replaced when it pays too little, after twice as long anyway; milliseconds. */
const STUCK = 30_000
/** How long a nonce may be missing before it counts as lost, and not as a node that is behind; milliseconds. */
const GAP = 3_000
/** How long the next nonce is taken from the last look at the chain; milliseconds. */
const NONCE_KEPT = 250
/** Between looks at transactions in flight; milliseconds. */
const POLL = { first: 2, most: 250 }

const ABSENT: Outcome = { status: 'absent' }

/** When the newest attempt was sent, and made: milliseconds that no change of the clock touches. `taken`: a node has taken it. */
type Timing = { sent: number; made: number; taken: boolean }

/**
 * The transactions in flight of the one account that this gateway writes with. Nonces are assigned here, at the moment of signing,
 * in order and without gaps, and everything is durable before it is sent. A repeat is harmless on the registry, so when it is
 * not clear what happened to a nonce, what it carried is simply done again.
 */
export function createSender(deps: {
  registry: Registry
  outbox: Outbox
  conclude: (intent: Intent, outcome: Outcome) => void
  log: (event: string, fields?: Record<string, unknown>) => void
}): Sender {
  const { registry, outbox, conclude, log } = deps
  let plans = outbox.plans()
  const carried = new Set(
    plans.flatMap(({ intents }) => intents.map(keyOfIntent)),
  )
  const timings = new Map<number, Timing>()
  let gapSince: number | undefined
  let seen = { nonce: 0, at: Number.NEGATIVE_INFINITY }
  let pause = 0

  const timingOf = ({ id }: Plan): Timing => {
    const known = timings.get(id)
    if (known) return known
    const timing = {
      sent: Number.NEGATIVE_INFINITY,
      made: performance.now(),
      taken: false,
    }
    timings.set(id, timing)
    return timing
  }

  /** @returns The first failure; the others are sent all the same. */
  async function send(): Promise<IssueError | undefined> {
    const failures = await Promise.all(plans.map(sendOne))
    return failures.find((failure) => failure !== undefined)
  }

  async function sendOne(plan: Plan): Promise<IssueError | undefined> {
    const timing = timingOf(plan)
    const newest = plan.attempts.at(-1)
    if (performance.now() - timing.sent < REBROADCAST || !newest)
      return undefined
    timing.sent = performance.now()
    try {
      await registry.broadcast(newest)
      timing.taken = true
      return undefined
    } catch (cause) {
      const error = asIssueError(cause)
      // Not sent at all: try as soon as the chain answers.
      if (error.code === 'chain_unavailable')
        timing.sent = Number.NEGATIVE_INFINITY
      // Underpriced: the node has another attempt of this nonce, which is to be outbid.
      else timing.taken = /underpriced/i.test(error.message)
      return error
    }
  }

  /** A nonce that is used is done with, whichever transaction used it. */
  async function settle(next: number): Promise<void> {
    const used = plans.filter(({ nonce }) => nonce < next)
    if (used.length === 0) return
    try {
      await settleAll(used)
    } catch (error) {
      if (used.length === 1) throw error
      // What one transaction runs into must not keep the others from being settled.
      const settled = await Promise.allSettled(
        used.map((plan) => settleAll([plan])),
      )
      const failed = settled.find(({ status }) => status === 'rejected')
      if (failed?.status === 'rejected') throw failed.reason
    }
  }

  async function settleAll(used: readonly Plan[]): Promise<void> {
    const intents = used.flatMap((plan) => plan.intents)
    const outcomes = await outcomesOf(registry, intents)
    // What the registry shows stays so without our own note of it: who waits need not wait for the disk.
    concludeAll(intents, outcomes, (outcome) => outcome.status === 'anchored')
    const outcomeOf = new Map(
      intents.map((intent, i) => [intent, outcomes[i] ?? ABSENT] as const),
    )
    await Promise.all(used.map((plan) => note(plan, outcomeOf)))
    concludeAll(intents, outcomes, (outcome) => outcome.status !== 'anchored')
  }

  async function note(
    plan: Plan,
    outcomeOf: ReadonlyMap<Intent, Outcome>,
  ): Promise<void> {
    const anchored = plan.intents.flatMap((intent) => {
      const outcome = outcomeOf.get(intent)
      return outcome?.status === 'anchored'
        ? [{ intent, anchoring: outcome }]
        : []
    })
    const gone = plan.intents.filter(
      (intent) => outcomeOf.get(intent)?.status === 'taken',
    )
    await outbox.settle(plan, { anchored, gone })
    drop(plan)
  }

  function concludeAll(
    intents: readonly Intent[],
    outcomes: readonly Outcome[],
    which: (outcome: Outcome) => boolean,
  ): void {
    intents.forEach((intent, i) => {
      const outcome = outcomes[i] ?? ABSENT
      if (which(outcome)) conclude(intent, outcome)
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
    log('nonces lost, planned anew', { from: next, to: first.nonce })
    for (const plan of [...plans]) {
      await outbox.settle(plan, { anchored: [], gone: [] })
      drop(plan)
      for (const intent of plan.intents) conclude(intent, ABSENT)
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
    const timing = timingOf(plan)
    const age = performance.now() - timing.made
    if (age < (timing.taken ? STUCK : REBROADCAST)) return
    // One that pays enough may still be such that no block can have it; but it is not outbid in a hurry.
    if (timing.taken && age < 2 * STUCK && (await registry.pays(newest))) return
    timing.made = performance.now()
    // What no node has taken, for lack of funds say, is not to be outbid: it would only grow dearer.
    const transaction = await registry.prepare(
      plan.intents,
      plan.nonce,
      timing.taken ? newest : undefined,
    )
    if (transaction.hash === newest.hash) return
    const replaced = await outbox.replace(plan, transaction)
    plans = plans.map((other) => (other === plan ? replaced : other))
    timing.sent = Number.NEGATIVE_INFINITY
    log('replaced', { nonce: plan.nonce, hash: transaction.hash })
    await send()
  }

  function drop(plan: Plan): void {
    plans = plans.filter((other) => other !== plan)
    timings.delete(plan.id)
    for (const intent of plan.intents) carried.delete(keyOfIntent(intent))
    pause = 0
  }

  return {
    inFlight: () => plans.length,
    carries: (kind, documentHash) => carried.has(keyOf(kind, documentHash)),

    async plan(intents) {
      const transaction = await registry.prepare(intents, await newNonce())
      plans.push(await outbox.plan(transaction, intents))
      for (const intent of intents) carried.add(keyOfIntent(intent))
      pause = 0
    },

    async advance() {
      if (plans.length === 0) return
      // What one transaction runs into must not keep the others from being settled.
      const failure = await send()
      const next = await look()
      await settle(next)
      await closeGap(next)
      await replaceStuck()
      if (failure && plans.length > 0) throw failure
    },

    pause() {
      const now = pause
      pause = Math.min(Math.max(pause * 2, POLL.first), POLL.most)
      return now
    },
  }
}
