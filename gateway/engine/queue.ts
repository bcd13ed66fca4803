import type { Log } from '#base/log.ts'
import { type Intent, type IntentKey, keyOf, keyOfIntent } from '#promise/intent.ts'
import type { Backlog } from '#promise/ports.ts'
import { isWholeBatch } from '#promise/record.ts'

/** How long an intent that was absent when it was queued counts as absent. */
const CERTAIN_MS = 5_000
/** How long a promised intent that the chain refuses is set aside. */
const ASIDE_MS = 3_000

/** The intents that wait for a transaction, in order, and those that are set aside. */
export type Queue = {
  readonly size: number
  /**
   * When the first waiting intent arrived, or the last transaction was made, as
   * `performance.now()`.
   */
  readonly gatheringSince: number
  /** @returns When an intent was queued, as `performance.now()`. */
  queuedAt(intent: Intent): number
  /** Queues intents of the outbox that are neither queued nor in flight. */
  add(intents: readonly Intent[]): void
  /** Same as `add`, for promised intents, which may already be on the chain. */
  addPromised(intents: readonly Intent[]): void
  /** @returns The intents of the next transaction. */
  next(limit: number): Intent[]
  /** Removes intents that were planned, concluded or withdrawn. */
  remove(intents: readonly Intent[]): void
  /** @returns The intents that may already be on the chain. */
  uncertain(intents: readonly Intent[]): Intent[]
  /** Reports that these intents are not on the chain at this moment. */
  seenAbsent(intents: readonly Intent[]): void
  /** @returns The intents that may be withdrawn, unless the outbox knows better. */
  unpromised(intents: readonly Intent[]): Intent[]
  /** Marks intents that must not be withdrawn. */
  markPromised(intents: readonly Intent[]): void
  /** Removes intents for a few seconds, also across a restart, so that they delay no others. */
  setAside(intents: readonly Intent[]): Promise<void>
  all(): Intent[]
  /** @returns Whether an intent is queued or in flight. */
  has(key: IntentKey): boolean
  /** @returns Whether no intent waits. */
  isEmpty(): boolean
  /** Queues the intents of an earlier process, all of which count as promised. */
  restore(): Promise<void>
  /** Queues intents that others have added to the outbox or put back. One read at a time. */
  refresh(): Promise<void>
  /** Reports intents that are no longer in flight. */
  dropped(intents: readonly Intent[]): void
}

/** A queued intent, which is in the outbox on disk. */
type Entry = {
  readonly intent: Intent
  /** Whether it must not be withdrawn. */
  promised: boolean
  /** The time of queueing, as `performance.now()`. */
  readonly queuedAt: number
  /** From when on the intent may be on the chain unnoticed, as `performance.now()`. */
  uncertainFrom: number
}

type QueueDeps = {
  outbox: Backlog
  /** @returns Whether a transaction in flight carries an intent. */
  carries: (key: IntentKey) => boolean
  /** Called after intents were queued. */
  changed: () => void
  log: Log
}

export function createQueue(deps: QueueDeps): Queue {
  const { outbox, carries, changed, log } = deps
  const entries = new Map<IntentKey, Entry>()
  /** The intents that wait before they are tried again. */
  const aside = new Set<IntentKey>()
  /** The intents that left the queue or their transaction while the outbox is read. */
  let leftSince: Set<IntentKey> | undefined
  let gatheringSince = 0

  const entriesOf = (intents: readonly Intent[]) =>
    intents.flatMap((intent) => entries.get(keyOfIntent(intent)) ?? [])
  const isUnderWay = (key: IntentKey) => entries.has(key) || aside.has(key) || carries(key)

  function add(intent: Intent, promised: boolean): void {
    const key = keyOfIntent(intent)
    const known = entries.get(key)
    if (known && promised) {
      known.promised = true
      markUncertain(known)
    }
    if (isUnderWay(key)) return
    if (entries.size === 0) gatheringSince = performance.now()
    entries.set(key, newEntry(intent, promised))
  }

  function addAll(intents: readonly Intent[], promised: boolean): void {
    for (const intent of intents) add(intent, promised)
    changed()
  }

  function waitAside(intents: readonly Intent[], milliseconds: number): void {
    for (const intent of intents) aside.add(keyOfIntent(intent))
    setTimeout(() => {
      for (const intent of intents) aside.delete(keyOfIntent(intent))
      addAll(intents, true)
      for (const entry of entriesOf(intents)) markRefused(entry)
    }, milliseconds).unref()
  }

  /** A revision waits until its document, or its batch, is on the chain. */
  function mustWait({ kind, documentHash, root = documentHash }: Intent): boolean {
    return kind !== 'issue' && isUnderWay(keyOf('issue', root))
  }

  function dropped(intents: readonly Intent[]): void {
    if (leftSince) for (const intent of intents) leftSince.add(keyOfIntent(intent))
  }

  function remove(intents: readonly Intent[]): void {
    for (const intent of intents) entries.delete(keyOfIntent(intent))
    dropped(intents)
    gatheringSince = performance.now()
  }

  async function read(isPromised: (promised: boolean) => boolean): Promise<void> {
    const left = new Set<IntentKey>()
    leftSince = left
    try {
      for (const { intent, asideUntil, promised } of await outbox.queued()) {
        const key = keyOfIntent(intent)
        // It was planned or even settled while the outbox was read.
        if (isUnderWay(key) || left.has(key)) continue
        // A change of the clock must not prolong the wait of an intent.
        const wait = Math.min((asideUntil ?? 0) - Date.now(), ASIDE_MS)
        if (wait > 0) waitAside([intent], wait)
        else add(intent, isPromised(promised))
      }
    } finally {
      leftSince = undefined
    }
    changed()
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
    next: (limit) => nextBatch(entries.values(), limit, mustWait),
    remove,
    uncertain(intents) {
      const now = performance.now()
      const unsure = entriesOf(intents).filter(({ uncertainFrom }) => now >= uncertainFrom)
      return unsure.map(({ intent }) => intent)
    },
    seenAbsent: (intents) => entriesOf(intents).forEach(markAbsent),
    unpromised(intents) {
      const free = entriesOf(intents).filter(({ promised }) => !promised)
      return free.map(({ intent }) => intent)
    },
    markPromised(intents) {
      for (const entry of entriesOf(intents)) entry.promised = true
    },

    async setAside(intents) {
      remove(intents)
      waitAside(intents, ASIDE_MS)
      await outbox
        .setAside(intents, Date.now() + ASIDE_MS)
        .catch((error) => log.warn('not_noted_aside', { error: String(error) }))
    },

    all: () => [...entries.values()].map(({ intent }) => intent),

    has: isUnderWay,
    isEmpty: () => entries.size === 0 && aside.size === 0,
    dropped,

    restore: () => read(() => true),
    // A request of this process may have added an intent that it has not queued yet.
    refresh: () => read((promised) => promised),
  }
}

function newEntry(intent: Intent, promised: boolean): Entry {
  const queuedAt = performance.now()
  const entry = { intent, promised, queuedAt, uncertainFrom: Number.POSITIVE_INFINITY }
  if (promised) markUncertain(entry)
  else markAbsent(entry)
  return entry
}

/** The intent may already be on the chain. */
function markUncertain(entry: Entry): void {
  if (entry.intent.kind === 'issue') entry.uncertainFrom = 0
}

/** The intent is not on the chain at this moment. */
function markAbsent(entry: Entry): void {
  if (entry.intent.kind === 'issue') entry.uncertainFrom = performance.now() + CERTAIN_MS
}

/**
 * The chain refused the intent. The registry skips a repeated revision of a document but refuses
 * that of a whole batch, which may then already be on the chain.
 */
function markRefused(entry: Entry): void {
  if (isWholeBatch(entry.intent)) entry.uncertainFrom = 0
}

/**
 * Selects the intents of the next transaction: the first one that can go, and later ones that can
 * share its transaction, in order.
 *
 * @param entries The entries in the order of the outbox.
 * @param mustWait Whether an intent has to wait for another that is not on the chain yet.
 */
function nextBatch(
  entries: Iterable<Entry>,
  limit: number,
  mustWait: (intent: Intent) => boolean,
): Intent[] {
  const batch: Intent[] = []
  for (const { intent } of entries) {
    if (batch.length === limit) break
    const [first = intent] = batch
    if (goTogether(first, intent) && !mustWait(intent)) batch.push(intent)
  }
  return batch
}

/**
 * @returns Whether two intents fit in one call of the registry, which has one kind, one reason, and
 * one batch, as a whole or some of its documents.
 */
function goTogether(one: Intent, other: Intent): boolean {
  if (isWholeBatch(one) || isWholeBatch(other)) return one === other
  if (one.root !== other.root) return false
  if (one.kind === 'revoke' && other.kind === 'revoke') return one.reason === other.reason
  return one.kind === other.kind
}
