import type { Standing } from '#promise/anchoring.ts'
import { type IntentKey, keyOfIntent } from '#promise/intent.ts'

/**
 * The standings of intents that this process has just added. They need not be read again: nothing
 * happens to an intent before an engine knows it, and an engine knows it from the request that added
 * it, or from the outbox.
 */
export type Fresh = {
  /** @param add Adds an intent. It resolves once that is durable, with a standing if it is new. */
  during<T extends { standing?: Standing }>(add: () => Promise<T>): Promise<T>
  /** @returns The standing of an intent, once. */
  take(key: IntentKey): Standing | undefined
  /** An engine reads the outbox. */
  forget(): void
}

export function createFresh(): Fresh {
  const standings = new Map<IntentKey, Standing>()
  let readings = 0
  return {
    async during(add) {
      const before = readings
      const added = await add()
      const { standing } = added
      if (standing && readings === before) standings.set(keyOfIntent(standing.intent), standing)
      return added
    },
    take(key) {
      const standing = standings.get(key)
      standings.delete(key)
      return standing
    },
    forget() {
      readings++
      standings.clear()
    },
  }
}
