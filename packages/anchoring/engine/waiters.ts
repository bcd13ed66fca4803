import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import { type Action, type ActionKey, keyOfAction } from '#promise/action.ts'
import type { Outcome } from '#promise/anchoring.ts'
import { refusalOf } from '#promise/errors.ts'
import type { Outbox } from '#promise/ports.ts'

/** A request that waits for an action. The first answer counts; later ones are ignored. */
type Waiter = PromiseWithResolvers<Outcome> & { action: Action; timer: NodeJS.Timeout }

/**
 * The requests that wait for actions. It holds nothing that could not be lost: what they wait for
 * is durable, so that `pending` is a true answer at any time.
 */
export type Waiters = {
  /**
   * Waits for the outcome of an action of the outbox.
   *
   * @param milliseconds How long until `pending` is the answer.
   * @throws {IssueError} when the action can never be anchored.
   */
  wait(action: Action, milliseconds: number): Promise<Outcome>
  /** Answers with an outcome that the chain shows; an absent action waits on. */
  conclude: Conclude
  /** Answers those whose outcome the outbox has, or that have left it. */
  look(some?: readonly Action[]): Promise<void>
  /** Answers `pending`, because these actions wait for the end of an outage. */
  postpone(which: (action: Action) => boolean): void
  /** Answers all requests. */
  close(): Promise<void>
}

/** Receives the outcome of an action, and all transactions that could have carried it. */
export type Conclude = (action: Action, outcome: Outcome, transactions?: ReadonlySet<Hex>) => void

const PENDING: Outcome = { status: 'pending', transactionHash: null }

/** @param deps.outcomeOf Reads the outcome of an action that is no longer in the outbox. */
export function createWaiters(deps: {
  outbox: Pick<Outbox, 'find'>
  outcomeOf: (action: Action) => Promise<Outcome>
  log: Log
}): Waiters {
  const waiting = new Map<ActionKey, Set<Waiter>>()

  function answer(action: Action, how: (waiter: Waiter) => void): boolean {
    const key = keyOfAction(action)
    const answered = [...(waiting.get(key) ?? [])]
    waiting.delete(key)
    for (const waiter of answered) {
      clearTimeout(waiter.timer)
      how(waiter)
    }
    return answered.length > 0
  }

  /**
   * @returns The answer for an action that has left the outbox. A node that is behind may not show
   * it yet.
   * @throws {IssueError} when it can never be anchored.
   */
  async function outcomeOfGone(action: Action): Promise<Outcome> {
    const outcome = await deps.outcomeOf(action).catch(() => PENDING)
    const refusal = refusalOf(outcome)
    if (refusal) throw refusal
    return outcome.status === 'absent' ? PENDING : outcome
  }

  async function readAgain(action: Action): Promise<void> {
    const found = await deps.outbox.find(action.kind, action.documentHash)
    if (found?.outcome.status === 'pending') return
    const outcome = found ? Promise.resolve(found.outcome) : outcomeOfGone(action)
    await outcome.then(
      (found) => answer(action, ({ resolve }) => resolve(found)),
      (error) => answer(action, ({ reject }) => reject(error)),
    )
  }

  async function stopWaiting(waiter: Waiter): Promise<void> {
    const key = keyOfAction(waiter.action)
    const others = waiting.get(key)
    if (!others?.delete(waiter)) return
    clearTimeout(waiter.timer)
    if (others.size === 0) waiting.delete(key)
    await late(waiter.action).then(waiter.resolve, waiter.reject)
  }

  /** @returns The answer when none came in time. */
  async function late(action: Action): Promise<Outcome> {
    const { kind, documentHash } = action
    const found = await deps.outbox.find(kind, documentHash).catch(() => 'unknown' as const)
    if (found === 'unknown') return PENDING
    return found ? found.outcome : outcomeOfGone(action)
  }

  return {
    wait(action, milliseconds) {
      const key = keyOfAction(action)
      const timer = setTimeout(() => stopWaiting(waiter), milliseconds).unref()
      const waiter: Waiter = { ...Promise.withResolvers<Outcome>(), action, timer }
      waiting.set(key, (waiting.get(key) ?? new Set<Waiter>()).add(waiter))
      return waiter.promise
    },

    conclude(action, outcome, transactions) {
      if (outcome.status === 'absent') return
      const refusal = refusalOf(outcome)
      if (refusal) {
        if (!answer(action, ({ reject }) => reject(refusal)))
          deps.log.error('promise_broken', { action: keyOfAction(action), reason: outcome.status })
        return
      }
      const isOther =
        outcome.status === 'anchored' &&
        outcome.transactionHash !== null &&
        transactions?.has(outcome.transactionHash) === false
      const shown = outcome.status === 'anchored' ? { ...outcome, byAnother: isOther } : outcome
      answer(action, ({ resolve }) => resolve(shown))
    },

    async look(some = [...waiting.values()].flatMap(([first]) => first?.action ?? [])) {
      const waited = some.filter((action) => waiting.has(keyOfAction(action)))
      // What cannot be read now is found at the next look.
      await Promise.all(waited.map((action) => readAgain(action).catch(() => {})))
    },

    postpone(which) {
      for (const waiter of [...waiting.values()].flatMap((some) => [...some]))
        if (which(waiter.action)) void stopWaiting(waiter)
    },

    async close() {
      await Promise.all([...waiting.values()].flatMap((some) => [...some]).map(stopWaiting))
    },
  }
}
