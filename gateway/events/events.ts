import { setTimeout as sleep } from 'node:timers/promises'
import type { CertainTime } from '#base/clock.ts'
import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'

const PRUNE_INTERVAL_MS = 60_000
/** A pause between two slices, so that requests come first. */
const PRUNE_PAUSE_MS = 50
/** How much longer than others events are kept that a webhook has still to be sent. */
const LONGER = 2

/** What can happen to a document, or to a batch. */
export const EVENT_TYPES = [
  'document.issued',
  'document.final',
  'document.revoked',
  'document.suspended',
  'document.released',
  'document.superseded',
  'document.erased',
  'document.failed',
  'batch.issued',
  'batch.final',
  'batch.revoked',
  'batch.suspended',
  'batch.released',
  'batch.superseded',
  'batch.failed',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/**
 * Something that happened to a document. It names the document by its hash alone: no publicId, and
 * no field.
 */
export type DocumentEvent = {
  /** Unique, also across a restored backup. */
  id: EventId
  type: EventType
  /** When it was written; milliseconds of the Unix epoch. */
  time: number
  /** Who requested what happened; `null` for commands. */
  tenant: string | null
  /** For a batch, its root. */
  documentHash: Hex
  /** The block, as it was when the event was written; `null` for what is not in a block. */
  blockNumber: number | null
  /** `null` also when no node reported it. */
  blockHash: Hex | null
  transactionHash: Hex | null
}

/** The place of an event in the log: `evt_<milliseconds>_<number>`. */
type EventId = `evt_${number}_${number}`

/** The parts of an {@link EventId}: a restored backup may number events again, at a later time. */
export type EventPlace = { time: number; number: number }

export function formatEventId({ time, number }: EventPlace): EventId {
  return `evt_${time}_${number}`
}

/** @returns `undefined` for text that is not an event's id. */
export function parseEventId(text: string): EventPlace | undefined {
  const [, time, number] = /^evt_(0|[1-9]\d{0,14})_([1-9]\d{0,14})$/.exec(text) ?? []
  return time === undefined ? undefined : { time: Number(time), number: Number(number) }
}

export type EventQuery = {
  /** Only events after this one; absent = from the oldest that is kept. */
  after?: EventPlace
  /** Absent = all types. */
  types?: readonly EventType[]
  /** Absent = events of all tenants, and of none. */
  tenant?: string
  /** Maximum events to return. */
  limit: number
}

export type EventPage = {
  events: DocumentEvent[]
  /**
   * Where the next page begins. It may name an event that the query leaves out: a page ends after a
   * bounded number of events, whether they match or not. `undefined` in an empty log.
   */
  next: EventPlace | undefined
  /** Whether there are later events, matching or not. */
  hasMore: boolean
}

/** The log of events, oldest first. Events are written with the outcomes that they report. */
export type EventLog = {
  /**
   * Returns only events that are on the disk.
   *
   * @returns `unknown_event` when the event that the page should begin after is not in the log,
   * or no longer: then later ones may be missing too.
   */
  read(query: EventQuery): Promise<EventPage | 'unknown_event'>
  /**
   * Disables the webhooks that have still to be sent an event from before this time, in
   * milliseconds of the Unix epoch.
   *
   * @returns Their ids.
   */
  leaveBehind(before: number): Promise<string[]>
  /**
   * Deletes some events from before this time, in milliseconds of the Unix epoch; never the newest,
   * which readers may name, and none from the first on that an enabled webhook has still to be
   * sent.
   *
   * @returns Whether there may be more.
   */
  prune(before: number): Promise<boolean>
}

/** An event as the REST API and webhooks show it. The same event is always the same JSON. */
export function presentEvent({ id, type, time, ...about }: DocumentEvent) {
  const { documentHash, blockNumber, blockHash, transactionHash, tenant } = about
  return {
    id,
    type,
    timestamp: new Date(time).toISOString(),
    data: {
      ...(type.startsWith('batch.') ? { batchRoot: documentHash } : { documentHash }),
      blockNumber,
      blockHash,
      transactionHash,
      tenant,
    },
  }
}

/**
 * Deletes events that are older than this, in slices.
 *
 * @param retention Milliseconds.
 * @param interval Milliseconds from one time to the next.
 * @returns A function that stops it.
 */
export function pruneEvents(
  events: Pick<EventLog, 'prune' | 'leaveBehind'>,
  { retention, certainTime }: { retention: number; certainTime: CertainTime },
  log: Log,
  interval = PRUNE_INTERVAL_MS,
): () => Promise<void> {
  const stop = new AbortController()
  const { signal } = stop

  async function prune(): Promise<void> {
    const now = await certainTime()
    if (now === undefined) return
    for (const webhook of await events.leaveBehind(now - LONGER * retention))
      log.warn('webhook_disabled', { webhook, reason: 'behind' })
    while (!signal.aborted && (await events.prune(now - retention)))
      await sleep(PRUNE_PAUSE_MS, undefined, { signal }).catch(() => {})
  }

  async function run(): Promise<void> {
    while (await sleep(interval, true, { signal }).catch(() => false))
      await prune().catch((error) => log.warn('events_not_pruned', { error: String(error) }))
  }

  const running = run()
  return async () => {
    stop.abort()
    await running
  }
}
