import type { Log } from '#base/log.ts'
import type { IssueError } from '#promise/errors.ts'
import { type Intent, keyOfIntent } from '#promise/intent.ts'
import type { Queue } from './queue.ts'
import type { Waiter, Waiters } from './waiters.ts'

/** Withdraws queued intents that were not promised, and rejects their requests. */
export type TurnAway = {
  /** @returns The intents that stay queued because they were promised. */
  turnAway(intents: readonly Intent[], error: IssueError): Promise<Intent[]>
  /** Resolves when the intent is not being withdrawn. */
  settled(intent: Intent): Promise<void>
}

/** @param withdraw Resolves with the intents that are no longer on disk. */
export function createTurnAway(deps: {
  queue: Queue
  waiters: Pick<Waiters, 'take'>
  withdraw: (intents: readonly Intent[]) => Promise<Intent[]>
  log: Log
}): TurnAway {
  const { queue, waiters, log } = deps
  const leaving = new Map<string, Promise<void>>()

  async function withdraw(
    leavers: readonly Intent[],
    waiting: ReadonlyMap<string, readonly Waiter[]>,
    error: IssueError,
  ): Promise<void> {
    const gone = await deps.withdraw(leavers).catch((cause): Intent[] => {
      log.warn('intents_not_withdrawn', { error: String(cause) })
      return []
    })
    const goneKeys = new Set<string>(gone.map(keyOfIntent))
    for (const [key, waiters] of waiting)
      for (const { resolve, reject } of waiters)
        if (goneKeys.has(key)) reject(error)
        else resolve({ status: 'pending', transactionHash: null })
    // Intents that are still in the outbox count as promised at the next start, and so also now.
    queue.addPromised(leavers.filter((intent) => !goneKeys.has(keyOfIntent(intent))))
  }

  return {
    async turnAway(intents, error) {
      const leavers = queue.unpromised(intents)
      queue.remove(leavers)
      const keys = leavers.map(keyOfIntent)
      // From here on no timer answers them with `pending`.
      const waiting = new Map(keys.map((key) => [key, waiters.take(key)]))
      const left = withdraw(leavers, waiting, error)
      for (const key of keys) leaving.set(key, left)
      await left
      for (const key of keys) leaving.delete(key)
      const gone = new Set(leavers)
      return intents.filter((intent) => !gone.has(intent))
    },
    settled: async (intent) => leaving.get(keyOfIntent(intent)),
  }
}
