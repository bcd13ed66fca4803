import type { Log } from '#base/log.ts'
import { type Intent, type IntentKey, keyOfIntent } from '#promise/intent.ts'
import type { Backlog } from '#promise/ports.ts'

/** How long a promised intent that the chain refuses stays aside. */
const ASIDE_MS = 3_000

/** The intents that wait before they are tried again. */
export type Aside = {
  has(key: IntentKey): boolean
  readonly size: number
  /** Sets intents aside for a few seconds; this outlasts the process. */
  add(intents: readonly Intent[]): Promise<void>
  /**
   * Continues a wait of an earlier process.
   *
   * @param until Milliseconds of the Unix epoch; `null` = it does not wait.
   * @returns Whether the intent still waits.
   */
  restore(intent: Intent, until: number | null): boolean
}

/** @param deps.back Receives intents whose wait is over. */
export function createAside(deps: {
  backlog: Pick<Backlog, 'setAside'>
  back: (intents: readonly Intent[]) => void
  log: Log
}): Aside {
  const { backlog, back, log } = deps
  const aside = new Set<IntentKey>()

  function wait(intents: readonly Intent[], milliseconds: number): void {
    for (const intent of intents) aside.add(keyOfIntent(intent))
    setTimeout(() => {
      for (const intent of intents) aside.delete(keyOfIntent(intent))
      back(intents)
    }, milliseconds).unref()
  }

  return {
    has: (key) => aside.has(key),
    get size() {
      return aside.size
    },

    async add(intents) {
      wait(intents, ASIDE_MS)
      await backlog
        .setAside(intents, Date.now() + ASIDE_MS)
        .catch((error) => log.warn('not_noted_aside', { error: String(error) }))
    },

    restore(intent, until) {
      const now = Date.now()
      // A change of the clock must not keep an intent aside for longer.
      const left = Math.min((until ?? now) - now, ASIDE_MS)
      if (left > 0) wait([intent], left)
      return left > 0
    },
  }
}
