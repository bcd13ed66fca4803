import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import type { Outcome } from '#promise/anchoring.ts'
import { refusalOf } from '#promise/errors.ts'
import { type Intent, type IntentKey, keyOfIntent } from '#promise/intent.ts'
import type { Outbox } from '#promise/ports.ts'

/** A request that waits for an intent. The first answer counts; later ones are ignored. */
type Waiter = PromiseWithResolvers<Outcome> & { intent: Intent; timer: NodeJS.Timeout }

/**
 * The requests that wait for intents. It holds nothing that could not be lost: what they wait for
 * is durable, so that `pending` is a true answer at any time.
 */
export type Waiters = {
  /**
   * Waits for the outcome of an intent of the outbox.
   *
   * @param milliseconds How long until `pending` is the answer.
   * @throws {IssueError} when the intent can never be anchored.
   */
  wait(intent: Intent, milliseconds: number): Promise<Outcome>
  /** Answers with an outcome that the chain shows; an absent intent waits on. */
  conclude: Conclude
  /** Answers those whose outcome the outbox has, or that have left it. */
  look(some?: readonly Intent[]): Promise<void>
  /** Answers `pending`, because these intents wait for the end of an outage. */
  postpone(which: (intent: Intent) => boolean): void
  /** Answers all requests. */
  close(): Promise<void>
}

/** Receives the outcome of an intent, and all transactions that could have carried it. */
export type Conclude = (intent: Intent, outcome: Outcome, transactions?: ReadonlySet<Hex>) => void

const PENDING: Outcome = { status: 'pending', transactionHash: null }

/** @param deps.outcomeOf Reads the outcome of an intent that is no longer in the outbox. */
export function createWaiters(deps: {
  outbox: Pick<Outbox, 'find'>
  outcomeOf: (intent: Intent) => Promise<Outcome>
  log: Log
}): Waiters {
  const waiting = new Map<IntentKey, Set<Waiter>>()

  function answer(intent: Intent, how: (waiter: Waiter) => void): boolean {
    const key = keyOfIntent(intent)
    const answered = [...(waiting.get(key) ?? [])]
    waiting.delete(key)
    for (const waiter of answered) {
      clearTimeout(waiter.timer)
      how(waiter)
    }
    return answered.length > 0
  }

  /**
   * @returns The answer for an intent that has left the outbox. A node that is behind may not show
   * it yet.
   * @throws {IssueError} when it can never be anchored.
   */
  async function outcomeOfGone(intent: Intent): Promise<Outcome> {
    const outcome = await deps.outcomeOf(intent).catch(() => PENDING)
    const refusal = refusalOf(outcome)
    if (refusal) throw refusal
    return outcome.status === 'absent' ? PENDING : outcome
  }

  async function readAgain(intent: Intent): Promise<void> {
    const standing = await deps.outbox.find(intent.kind, intent.documentHash)
    if (standing?.outcome.status === 'pending') return
    const outcome = standing ? Promise.resolve(standing.outcome) : outcomeOfGone(intent)
    await outcome.then(
      (found) => answer(intent, ({ resolve }) => resolve(found)),
      (error) => answer(intent, ({ reject }) => reject(error)),
    )
  }

  async function stopWaiting(waiter: Waiter): Promise<void> {
    const key = keyOfIntent(waiter.intent)
    const others = waiting.get(key)
    if (!others?.delete(waiter)) return
    clearTimeout(waiter.timer)
    if (others.size === 0) waiting.delete(key)
    await late(waiter.intent).then(waiter.resolve, waiter.reject)
  }

  /** @returns The answer when none came in time. */
  async function late(intent: Intent): Promise<Outcome> {
    const { kind, documentHash } = intent
    const standing = await deps.outbox.find(kind, documentHash).catch(() => 'unknown' as const)
    if (standing === 'unknown') return PENDING
    return standing ? standing.outcome : outcomeOfGone(intent)
  }

  return {
    wait(intent, milliseconds) {
      const key = keyOfIntent(intent)
      const timer = setTimeout(() => stopWaiting(waiter), milliseconds).unref()
      const waiter: Waiter = { ...Promise.withResolvers<Outcome>(), intent, timer }
      waiting.set(key, (waiting.get(key) ?? new Set<Waiter>()).add(waiter))
      return waiter.promise
    },

    conclude(intent, outcome, transactions) {
      if (outcome.status === 'absent') return
      const refusal = refusalOf(outcome)
      if (refusal) {
        if (!answer(intent, ({ reject }) => reject(refusal)))
          deps.log.error('promise_broken', { intent: keyOfIntent(intent), reason: outcome.status })
        return
      }
      const isOther =
        outcome.status === 'anchored' &&
        outcome.transactionHash !== null &&
        transactions?.has(outcome.transactionHash) === false
      const shown = outcome.status === 'anchored' ? { ...outcome, byAnother: isOther } : outcome
      answer(intent, ({ resolve }) => resolve(shown))
    },

    async look(some = [...waiting.values()].flatMap(([first]) => first?.intent ?? [])) {
      const waited = some.filter((intent) => waiting.has(keyOfIntent(intent)))
      // What cannot be read now is found at the next look.
      await Promise.all(waited.map((intent) => readAgain(intent).catch(() => {})))
    },

    postpone(which) {
      for (const waiter of [...waiting.values()].flatMap((some) => [...some]))
        if (which(waiter.intent)) void stopWaiting(waiter)
    },

    async close() {
      await Promise.all([...waiting.values()].flatMap((some) => [...some]).map(stopWaiting))
    },
  }
}
