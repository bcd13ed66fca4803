import type { Log } from '#base/log.ts'
import { type Intent, type IntentKey, keyOf, keyOfIntent } from '#promise/intent.ts'
import type { Backlog } from '#promise/ports.ts'
import { createAside } from './aside.ts'
import { nextBatch } from './batch.ts'
import { createDepartures } from './departures.ts'
import { createEntries, type Entries, markAbsent, markRefused, markUncertain } from './entries.ts'

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
  /** Whether an intent is queued or in flight. */
  has(key: IntentKey): boolean
  /** Whether no intent waits. */
  isEmpty(): boolean
  /**
   * Queues the intents that an earlier process left, or that another gateway put back: all of them
   * count as promised.
   */
  restore(): Promise<void>
  /** Reports intents that are not in flight any more. */
  dropped(intents: readonly Intent[]): void
}

type QueueDeps = {
  backlog: Backlog
  /** Whether a transaction in flight carries an intent. */
  carries: (key: IntentKey) => boolean
  /** Called after intents were queued. */
  changed: () => void
  log: Log
}

export function createQueue(deps: QueueDeps): Queue {
  const { backlog, carries, changed, log } = deps
  const entries = createEntries()
  const aside = createAside({ backlog, back, log })
  const departures = createDepartures()
  let gatheringSince = 0

  const isUnderWay = (key: IntentKey) =>
    entries.get(key) !== undefined || aside.has(key) || carries(key)

  function add(intent: Intent, promised: boolean): void {
    const key = keyOfIntent(intent)
    const known = entries.get(key)
    if (known && promised) {
      known.promised = true
      markUncertain(known)
    }
    if (isUnderWay(key)) return
    if (entries.size === 0) gatheringSince = performance.now()
    entries.add(intent, promised)
  }

  /** Queues what the chain refused before. */
  function back(intents: readonly Intent[]): void {
    addAll(intents, true)
    for (const entry of entries.of(intents)) markRefused(entry)
  }

  function addAll(intents: readonly Intent[], promised: boolean): void {
    for (const intent of intents) add(intent, promised)
    changed()
  }

  /** A revision waits until its document, or its batch, is on the chain. */
  function mustWait({ kind, documentHash, root = documentHash }: Intent): boolean {
    return kind !== 'issue' && isUnderWay(keyOf('issue', root))
  }

  function remove(intents: readonly Intent[]): void {
    entries.remove(intents)
    departures.note(intents)
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
    next: (limit) => nextBatch(entries.intents(), limit, mustWait),
    remove,
    ...marksOf(entries),

    async setAside(intents) {
      remove(intents)
      await aside.add(intents)
    },

    all: () => [...entries.intents()],

    has: isUnderWay,
    isEmpty: () => entries.size === 0 && aside.size === 0,
    dropped: departures.note,

    async restore() {
      const { result, left } = await departures.during(backlog.queued)
      for (const { intent, asideUntil } of result) {
        const key = keyOfIntent(intent)
        // Planned, or even settled, while the outbox was read.
        if (isUnderWay(key) || left.has(key)) continue
        if (!aside.restore(intent, asideUntil)) add(intent, true)
      }
      changed()
    },
  }
}

/** What is known of queued intents: whether they may be on the chain, and whether promised. */
function marksOf(
  entries: Entries,
): Pick<Queue, 'uncertain' | 'seenAbsent' | 'unpromised' | 'markPromised'> {
  return {
    uncertain(intents) {
      const now = performance.now()
      const unsure = entries.of(intents).filter(({ uncertainFrom }) => now >= uncertainFrom)
      return unsure.map(({ intent }) => intent)
    },
    seenAbsent: (intents) => entries.of(intents).forEach(markAbsent),
    unpromised(intents) {
      const free = entries.of(intents).filter(({ promised }) => !promised)
      return free.map(({ intent }) => intent)
    },
    markPromised(intents) {
      for (const entry of entries.of(intents)) entry.promised = true
    },
  }
}
