import { clock } from '#base/clock.ts'
import type { Hex } from '#document/hex.ts'
import type { Queue } from '#promise/ports.ts'

/** Waiting actions are counted up to this number. */
export const MAX_WAITING = 20_000

/** What waits in the database, counted now and then. */
export type Survey = {
  /** Counts. @returns How many wait for a transaction and are not held back. */
  take(): Promise<number>
  /** @param count How many actions now wait that the last count did not see. */
  added(count: number): void
  planned(count: number): void
  /** @returns How many wait, and how many are held back after a refusal. */
  waiting(): { queued: number; refused: number }
  /** Accounts that alone may send some of what waits; see `Queue`. */
  carriers(): readonly Hex[]
}

/** State: the last count, and what came and went since. */
export function createSurvey(
  queue: Pick<Queue, 'count' | 'carriers'>,
  hasOtherAccounts: boolean,
): Survey {
  let counted = { queued: 0, held: 0 }
  let change = 0
  let carriers: readonly Hex[] = []

  return {
    async take() {
      counted = await queue.count(clock.now(), MAX_WAITING + 1)
      change = 0
      const { queued, held } = counted
      carriers = queued + held > 0 && hasOtherAccounts ? await queue.carriers() : []
      return queued
    },
    added(count) {
      change += count
    },
    planned(count) {
      change -= count
    },
    waiting: () => ({ queued: Math.max(0, counted.queued + change), refused: counted.held }),
    carriers: () => carriers,
  }
}
