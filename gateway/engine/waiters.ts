import type { Outcome } from '#promise/anchoring.ts'
import type { IssueError } from '#promise/errors.ts'
import { type Intent, keyOfIntent } from '#promise/intent.ts'

/** A request that waits for an intent. The first answer counts; later ones are ignored. */
export type Waiter = {
  resolve(outcome: Outcome): void
  reject(error: IssueError): void
}

/** The requests that wait for the outcomes of intents, by the intent's key. */
export type Waiters = {
  has(key: string): boolean
  /** @returns The intents for which requests wait, each once. */
  intents(): Intent[]
  /** @param wait Milliseconds until the request gets the answer of `late`. */
  wait(intent: Intent, wait: number): Promise<Outcome>
  /** Answers all requests that wait for this key. */
  answer(key: string, outcome: Outcome): void
  /** @returns Whether a request waited. */
  reject(key: string, error: IssueError): boolean
  /** @returns The waiting requests of this key. The caller answers them, and no timer does. */
  take(key: string): Waiter[]
  /** Answers all requests with `late`. Resolves when all are answered. */
  close(): Promise<void>
}

/** @param late Gives the answer for an intent that took too long. */
export function createWaiters(late: (intent: Intent) => Promise<Outcome>): Waiters {
  const waiting = new Map<string, Map<Waiter, Intent>>()

  function take(key: string): Waiter[] {
    const taken = [...(waiting.get(key)?.keys() ?? [])]
    waiting.delete(key)
    return taken
  }

  async function stopWaiting(key: string, waiter: Waiter): Promise<void> {
    const others = waiting.get(key)
    const intent = others?.get(waiter)
    // The request was taken, and the caller of `take` answers it.
    if (others === undefined || intent === undefined) return
    others.delete(waiter)
    if (others.size === 0) waiting.delete(key)
    await late(intent).then(waiter.resolve, waiter.reject)
  }

  return {
    take,
    has: (key) => waiting.has(key),
    intents: () => [...waiting.values()].flatMap((requests) => [...requests.values()].slice(0, 1)),

    wait(intent, wait) {
      const key = keyOfIntent(intent)
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => stopWaiting(key, waiter), wait).unref()
        const waiter: Waiter = {
          resolve(outcome) {
            clearTimeout(timer)
            resolve(outcome)
          },
          reject(error) {
            clearTimeout(timer)
            reject(error)
          },
        }
        const others = waiting.get(key) ?? new Map<Waiter, Intent>()
        waiting.set(key, others.set(waiter, intent))
      })
    },

    answer(key, outcome) {
      for (const { resolve } of take(key)) resolve(outcome)
    },

    reject(key, error) {
      const waiters = take(key)
      for (const { reject } of waiters) reject(error)
      return waiters.length > 0
    },

    async close() {
      await Promise.all(
        [...waiting].flatMap(([key, waiters]) =>
          [...waiters.keys()].map((waiter) => stopWaiting(key, waiter)),
        ),
      )
    },
  }
}
