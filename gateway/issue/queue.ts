import type { Log } from '../log.ts'
import { nextBatch } from './batch.ts'
import { type Intent, type IntentKey, keyOf, keyOfIntent } from './intent.ts'
import type { Backlog } from './ports.ts'

/** How long a promised intent that the chain refuses stays aside. */
const ASIDE_MS = 3_000
/** How long an intent that was absent when it was queued counts as absent. */
const CERTAIN_MS = 5_000

/** A queued intent; the outbox has it on disk. */
type Entry = {
  intent: Intent
  /** Whether it must not be withdrawn. */
  promised: boolean
  /** `performance.now()`. */
  queuedAt: number
  /** From when on a document to issue may be on the chain unnoticed; `performance.now()`. */
  uncertainFrom: number
}

/** The intents that wait for a transaction, in order, and those that were set aside. */
export type Queue = {
  readonly size: number
  /**
   * When the first waiting intent arrived, or the last transaction was made; `performance.now()`.
   */
  readonly gatheringSince: number
  /** When an intent was queued; `performance.now()`. */
  queuedAt(intent: Intent): number
  /** Queues intents of the outbox that are neither queued nor in flight. */
  add(intents: readonly Intent[]): void
  /**
   * As `add`, for promised intents, which may be on the chain already.
   */
  addPromised(intents: readonly Intent[]): void
  /** @returns The intents of the next transaction. */
  next(limit: number): Intent[]
  /** Removes intents that were planned, concluded or withdrawn. */
  remove(intents: readonly Intent[]): void
  /** @returns Those that may be on the chain by now. */
  uncertain(intents: readonly Intent[]): Intent[]
  /** Reports that they are not on the chain at this moment. */
  seenAbsent(intents: readonly Intent[]): void
  /** @returns Those that may be withdrawn, unless the outbox knows better. */
  unpromised(intents: readonly Intent[]): Intent[]
  /** Marks intents that must not be withdrawn. */
  markPromised(intents: readonly Intent[]): void
  /** Removes intents for a few seconds, so that they do not hold up the others. */
  setAside(intents: readonly Intent[]): Promise<void>
  all(): Intent[]
  /** Queues the intents that an earlier process left: all of them count as promised. */
  restore(): Promise<void>
}

/** @param carries Whether a transaction in flight carries an intent. */
export function createQueue(deps: {
  backlog: Backlog
  carries: (key: IntentKey) => boolean
  /** Called after intents were queued. */
  changed: () => void
  log: Log
}): Queue {
  const { backlog, carries, changed, log } = deps
  const entries = new Map<IntentKey, Entry>()
  const aside = new Set<IntentKey>()
  let gatheringSince = 0

  function addEntry(intent: Intent, promised: boolean): void {
    const key = keyOfIntent(intent)
    const known = entries.get(key)
    if (known && promised) known.promised = true
    if (known && promised && intent.kind === 'issue') known.uncertainFrom = 0
    if (known || aside.has(key) || carries(key)) return
    if (entries.size === 0) gatheringSince = performance.now()
    const uncertainFrom =
      intent.kind !== 'issue'
        ? Number.POSITIVE_INFINITY
        : promised
          ? 0
          : performance.now() + CERTAIN_MS
    const queuedAt = performance.now()
    entries.set(key, { intent, promised, queuedAt, uncertainFrom })
  }

  function addAll(intents: readonly Intent[], promised: boolean): void {
    for (const intent of intents) addEntry(intent, promised)
    changed()
  }

  /** A revision waits until its document is on the chain. */
  function mustWait({ kind, documentHash }: Intent): boolean {
    if (kind === 'issue') return false
    const key = keyOf('issue', documentHash)
    return entries.has(key) || aside.has(key) || carries(key)
  }

  function bringBack(intents: readonly Intent[], milliseconds: number): void {
    for (const intent of intents) aside.add(keyOfIntent(intent))
    setTimeout(() => {
      for (const intent of intents) aside.delete(keyOfIntent(intent))
      addAll(intents, true)
    }, milliseconds).unref()
  }

  const entriesOf = (intents: readonly Intent[]) =>
    intents.flatMap((intent) => entries.get(keyOfIntent(intent)) ?? [])

  function remove(intents: readonly Intent[]): void {
    for (const intent of intents) entries.delete(keyOfIntent(intent))
    gatheringSince = performance.now()
  }

  return {
    get size() {
      return entries.size
    },
    get gatheringSince() {
      return gatheringSince
    },
    queuedAt: (intent) => entries.get(keyOfIntent(intent))?.queuedAt ?? performance.now(),
    add: (intents) => addAll(intents, false),
    addPromised: (intents) => addAll(intents, true),
    next: (limit) => nextBatch(intentsOf(entries.values()), limit, mustWait),
    remove,

    uncertain(intents) {
      const now = performance.now()
      return entriesOf(intents)
        .filter(({ uncertainFrom }) => now >= uncertainFrom)
        .map(({ intent }) => intent)
    },
    seenAbsent(intents) {
      for (const entry of entriesOf(intents)) entry.uncertainFrom = performance.now() + CERTAIN_MS
    },

    unpromised: (intents) =>
      entriesOf(intents)
        .filter(({ promised }) => !promised)
        .map(({ intent }) => intent),
    markPromised(intents) {
      for (const entry of entriesOf(intents)) entry.promised = true
    },

    async setAside(intents) {
      remove(intents)
      bringBack(intents, ASIDE_MS)
      await backlog
        .setAside(intents, Date.now() + ASIDE_MS)
        .catch((error) => log.warn('not_noted_aside', { error: String(error) }))
    },

    all: () => [...intentsOf(entries.values())],

    async restore() {
      const now = Date.now()
      for (const { intent, asideUntil } of await backlog.queued()) {
        // A change of the clock must not keep an intent aside for longer.
        const left = Math.min((asideUntil ?? now) - now, ASIDE_MS)
        if (left > 0) bringBack([intent], left)
        else addEntry(intent, true)
      }
      changed()
    },
  }
}

function* intentsOf(entries: Iterable<Entry>): Generator<Intent> {
  for (const { intent } of entries) yield intent
}
