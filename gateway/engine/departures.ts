import { type Intent, type IntentKey, keyOfIntent } from '#promise/intent.ts'

/** Remembers which intents left the queue, or their transaction, while the outbox was read. */
export type Departures = {
  note(intents: readonly Intent[]): void
  /** @returns What was read, and the intents that left meanwhile: it may still have them. */
  during<T>(read: () => Promise<T>): Promise<{ result: T; left: ReadonlySet<IntentKey> }>
}

export function createDepartures(): Departures {
  const readings = new Set<Set<IntentKey>>()

  return {
    note(intents) {
      for (const left of readings) for (const intent of intents) left.add(keyOfIntent(intent))
    },
    async during(read) {
      const left = new Set<IntentKey>()
      readings.add(left)
      try {
        return { result: await read(), left }
      } finally {
        readings.delete(left)
      }
    },
  }
}
