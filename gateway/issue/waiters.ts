import type { Hex } from '../../document/hex.ts'
import type { IssueError } from './errors.ts'
import { keyOfIntent } from './intent.ts'
import type { Intent } from './ports.ts'

/**
 * What a request is told: what became of its intent, or that it is still to come.
 *
 * `byAnother`: none of the transactions that carried the intent anchored it, but an earlier one, or
 * one of another gateway.
 */
export type Answer =
  | { status: 'anchored'; transactionHash: Hex | null; byAnother?: boolean }
  | { status: 'pending'; transactionHash: Hex | null }
  /** There was nothing to do. */
  | { status: 'moot' }

/** Somebody who waits for an intent. Told once; what comes later is nothing to them. */
export type Waiter = {
  resolve(answer: Answer): void
  reject(error: IssueError): void
}

/** Those who wait for what becomes of intents, by the intent's key. */
export type Waiters = {
  has(key: string): boolean
  /** @param wait Milliseconds until who waits is told what `late` says. */
  wait(intent: Intent, wait: number): Promise<Answer>
  /** Tells all who wait for this key. */
  answer(key: string, answer: Answer): void
  /** @returns Whether anybody waited. */
  reject(key: string, error: IssueError): boolean
  /** @returns Who waits for this key: from here on the caller tells them, and no clock. */
  take(key: string): Waiter[]
  /** Tells everybody what `late` says; resolves when all have been told. */
  close(): Promise<void>
}

/** @param late What is told of an intent that took too long. */
export function createWaiters(late: (intent: Intent) => Promise<Answer>): Waiters {
  const waiting = new Map<string, Map<Waiter, Intent>>()

  function take(key: string): Waiter[] {
    const taken = [...(waiting.get(key)?.keys() ?? [])]
    waiting.delete(key)
    return taken
  }

  async function stopWaiting(key: string, waiter: Waiter): Promise<void> {
    const others = waiting.get(key)
    const intent = others?.get(waiter)
    // Taken: told by who took them.
    if (others === undefined || intent === undefined) return
    others.delete(waiter)
    if (others.size === 0) waiting.delete(key)
    await late(intent).then(waiter.resolve, waiter.reject)
  }

  return {
    take,
    has: (key) => waiting.has(key),

    wait(intent, wait) {
      const key = keyOfIntent(intent)
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => stopWaiting(key, waiter), wait).unref()
        const waiter: Waiter = {
          resolve(answer) {
            clearTimeout(timer)
            resolve(answer)
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

    answer(key, answer) {
      for (const { resolve } of take(key)) resolve(answer)
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
