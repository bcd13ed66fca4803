import { clock } from '#base/clock.ts'
import type { Log } from '#base/log.ts'
import { type Intent, type IntentKey, keyOf, keyOfIntent } from '#promise/intent.ts'
import type { Backlog } from '#promise/ports.ts'
import { isWholeBatch } from '#promise/record.ts'

/** How long an intent that was absent when it was queued counts as absent. */
const CERTAIN_MS = 5_000
/** How long an intent that the chain refuses is set aside: at first, and at most. */
const ASIDE = { minMs: 3_000, maxMs: 300_000 }

/** The intents that wait for a transaction, in order, and those that are set aside. */
export type Queue = {
  readonly size: number
  /** How many intents are set aside. */
  readonly refused: number
  /**
   * When the first waiting intent arrived, or the last transaction was made, as
   * `performance.now()`.
   */
  readonly gatheringSince: number
  /** @returns When an intent was queued, as `performance.now()`. */
  queuedAt(intent: Intent): number
  /** Queues intents of the outbox that are neither queued nor in flight. */
  add(intents: readonly Intent[]): void
  /** Same as `add`, for intents that may already be on the chain. */
  addAgain(intents: readonly Intent[]): void
  /** @returns The intents of the next transaction. */
  next(limit: number): Intent[]
  /** Removes intents that were planned or concluded. */
  remove(intents: readonly Intent[]): void
  /** @returns The intents that may already be on the chain. */
  uncertain(intents: readonly Intent[]): Intent[]
  /** Reports that these intents are not on the chain at this moment. */
  seenAbsent(intents: readonly Intent[]): void
  /**
   * Removes intents for a while, also across a restart, so that they delay no others: longer each
   * time.
   */
  setAside(intents: readonly Intent[]): Promise<void>
  /** Queues those of the intents that are set aside. */
  recall(which: (intent: Intent) => boolean): void
  all(): Intent[]
  /** @returns Whether an intent is queued or in flight. */
  has(key: IntentKey): boolean
  /** @returns Whether no intent waits. */
  isEmpty(): boolean
  /** Queues the intents of an earlier process, any of which may be on the chain. */
  restore(): Promise<void>
  /** Queues intents that others have added to the outbox or put back. One read at a time. */
  refresh(): Promise<void>
  /** Reports intents that are no longer in flight. */
  dropped(intents: readonly Intent[]): void
}

/** A queued intent, which is in the outbox on disk. */
type Entry = {
  readonly intent: Intent
  /** How often the chain has refused it. */
  readonly tries: number
  /** The time of queueing, as `performance.now()`. */
  readonly queuedAt: number
  /** From when on the intent may be on the chain unnoticed, as `performance.now()`. */
  uncertainFrom: number
}

/** An intent that waits before it is tried again. */
type Aside = { intent: Intent; tries: number; timer: NodeJS.Timeout }

/** @returns The milliseconds that an intent waits after so many refusals. */
function asideFor(tries: number): number {
  return Math.min(ASIDE.minMs * 2 ** Math.max(0, tries - 1), ASIDE.maxMs)
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
  const aside = new Map<IntentKey, Aside>()
  /** The intents that left the queue or their transaction while the outbox is read. */
  let leftSince: Set<IntentKey> | undefined
  let gatheringSince = 0

  const entriesOf = (intents: readonly Intent[]) =>
    intents.flatMap((intent) => entries.get(keyOfIntent(intent)) ?? [])
  const isUnderWay = (key: IntentKey) => entries.has(key) || aside.has(key) || carries(key)

  /** @param uncertain Whether it may already be on the chain. */
  function add(intent: Intent, uncertain: boolean, tries = 0): void {
    const key = keyOfIntent(intent)
    const known = entries.get(key)
    if (known && uncertain) markUncertain(known)
    if (isUnderWay(key)) return
    if (entries.size === 0) gatheringSince = performance.now()
    entries.set(key, newEntry(intent, { uncertain, tries }))
  }

  function addAll(intents: readonly Intent[], uncertain: boolean): void {
    for (const intent of intents) add(intent, uncertain)
    changed()
  }

  function waitAside(intent: Intent, tries: number, milliseconds: number): void {
    const key = keyOfIntent(intent)
    const timer = setTimeout(() => {
      comeBack([key])
    }, milliseconds).unref()
    aside.set(key, { intent, tries, timer })
  }

  function comeBack(keys: readonly IntentKey[]): void {
    for (const key of keys) {
      const one = aside.get(key)
      if (!aside.delete(key) || !one) continue
      clearTimeout(one.timer)
      add(one.intent, true, one.tries)
      for (const entry of entriesOf([one.intent])) markRefused(entry)
    }
    if (keys.length > 0) changed()
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

  /** @param all Whether any of them may be on the chain, not only those that were carried. */
  async function read(all: boolean): Promise<void> {
    const left = new Set<IntentKey>()
    leftSince = left
    try {
      for (const { intent, asideUntil, tries, wasCarried } of await outbox.queued()) {
        const key = keyOfIntent(intent)
        // It was planned or even settled while the outbox was read.
        if (isUnderWay(key) || left.has(key)) continue
        // A change of the clock must not prolong the wait of an intent.
        const wait = Math.min((asideUntil ?? 0) - clock.wall(), asideFor(tries))
        if (wait > 0) waitAside(intent, tries, wait)
        else add(intent, all || wasCarried || tries > 0, tries)
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
    get refused() {
      return aside.size
    },
    get gatheringSince() {
      return gatheringSince
    },
    queuedAt: (intent) => entries.get(keyOfIntent(intent))?.queuedAt ?? performance.now(),
    add: (intents) => addAll(intents, false),
    addAgain: (intents) => addAll(intents, true),
    next: (limit) => nextBatch(entries.values(), limit, mustWait),
    remove,
    uncertain(intents) {
      const now = performance.now()
      const unsure = entriesOf(intents).filter(({ uncertainFrom }) => now >= uncertainFrom)
      return unsure.map(({ intent }) => intent)
    },
    seenAbsent: (intents) => entriesOf(intents).forEach(markAbsent),

    async setAside(intents) {
      const refused = entriesOf(intents)
      remove(intents)
      for (const { intent, tries } of refused) waitAside(intent, tries + 1, asideFor(tries + 1))
      const byTries = Map.groupBy(refused, ({ tries }) => tries + 1)
      for (const [tries, some] of byTries) {
        const these = some.map(({ intent }) => intent)
        await outbox
          .setAside(these, tries, clock.wall() + asideFor(tries))
          .catch((error) => log.warn('not_noted_aside', { error: String(error) }))
      }
    },
    recall: (which) =>
      comeBack([...aside].filter(([, { intent }]) => which(intent)).map(([key]) => key)),

    all: () => [...entries.values()].map(({ intent }) => intent),

    has: isUnderWay,
    isEmpty: () => entries.size === 0 && aside.size === 0,
    dropped,

    restore: () => read(true),
    // A request of this process may have added an intent that it has not queued yet.
    refresh: () => read(false),
  }
}

function newEntry(
  intent: Intent,
  { uncertain, tries }: { uncertain: boolean; tries: number },
): Entry {
  const queuedAt = performance.now()
  const entry = { intent, tries, queuedAt, uncertainFrom: Number.POSITIVE_INFINITY }
  if (uncertain) markUncertain(entry)
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
