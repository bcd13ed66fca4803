import { type Intent, type IntentKey, keyOfIntent } from '#promise/intent.ts'
import { isWholeBatch } from '#promise/record.ts'

/** How long an intent that was absent when it was queued counts as absent. */
const CERTAIN_MS = 5_000

/** A queued intent; the outbox has it on disk. */
export type Entry = {
  readonly intent: Intent
  /** Whether it must not be withdrawn. */
  promised: boolean
  /** `performance.now()`. */
  readonly queuedAt: number
  /** From when on the intent may be on the chain unnoticed; `performance.now()`. */
  uncertainFrom: number
}

/** The queued intents, in order. */
export type Entries = {
  readonly size: number
  get(key: IntentKey): Entry | undefined
  /** @returns Those of them that are queued. */
  of(intents: readonly Intent[]): Entry[]
  /** Queues an intent that is not queued. */
  add(intent: Intent, promised: boolean): void
  remove(intents: readonly Intent[]): void
  intents(): Generator<Intent>
}

export function createEntries(): Entries {
  const entries = new Map<IntentKey, Entry>()

  return {
    get size() {
      return entries.size
    },
    get: (key) => entries.get(key),
    of: (intents) => intents.flatMap((intent) => entries.get(keyOfIntent(intent)) ?? []),

    add(intent, promised) {
      const queuedAt = performance.now()
      const entry = { intent, promised, queuedAt, uncertainFrom: Number.POSITIVE_INFINITY }
      if (promised) markUncertain(entry)
      else markAbsent(entry)
      entries.set(keyOfIntent(intent), entry)
    },
    remove(intents) {
      for (const intent of intents) entries.delete(keyOfIntent(intent))
    },

    *intents() {
      for (const { intent } of entries.values()) yield intent
    },
  }
}

/** The intent may be on the chain already. */
export function markUncertain(entry: Entry): void {
  if (entry.intent.kind === 'issue') entry.uncertainFrom = 0
}

/** The intent is not on the chain at this moment. */
export function markAbsent(entry: Entry): void {
  if (entry.intent.kind === 'issue') entry.uncertainFrom = performance.now() + CERTAIN_MS
}

/**
 * The chain refused the intent. The registry skips a repeated revision of a document, but refuses
 * that of a whole batch: then it may be on the chain already.
 */
export function markRefused(entry: Entry): void {
  if (isWholeBatch(entry.intent)) entry.uncertainFrom = 0
}
