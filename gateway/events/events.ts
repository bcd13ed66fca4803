import { setTimeout as sleep } from 'node:timers/promises'
import type { CertainTime } from '#base/clock.ts'
import { repeat } from '#base/concurrency.ts'
import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import type { ActKind, Actor } from '#promise/acts.ts'

const PRUNE_INTERVAL_MS = 60_000
/** The pause between two slices, so that requests come first. */
const PRUNE_PAUSE_MS = 50
/** Events that must still be sent to a webhook are kept this many times as long as others. */
const LONGER = 2

/** The types of events about a document or a batch, with the act behind each; `null` = nobody's. */
export const EVENTS = {
  'document.issued': 'issue',
  'document.final': null,
  'document.revoked': 'revoke',
  'document.suspended': 'suspend',
  'document.released': 'release',
  'document.superseded': 'supersede',
  'document.erased': 'erase',
  'document.failed': null,
  'batch.issued': 'issue',
  'batch.final': null,
  'batch.revoked': 'revoke',
  'batch.suspended': 'suspend',
  'batch.released': 'release',
  'batch.superseded': 'supersede',
  'batch.failed': null,
} as const satisfies Record<string, ActKind | null>
export type EventType = keyof typeof EVENTS
export const EVENT_TYPES = Object.keys(EVENTS) as EventType[]

/**
 * Something that happened to a document. It names the document only by its hash, and contains no
 * publicId and no field.
 */
export type DocumentEvent = {
  /** Unique, also across a restored backup. */
  id: EventId
  type: EventType
  /** When it was written, in milliseconds of the Unix epoch. */
  time: number
  /** The tenant that requested the change; `null` for commands. */
  tenant: string | null
  /** The documentHash, or the root of a batch. */
  documentHash: Hex
  /** The block as it was when the event was written; `null` for a change that is not in a block. */
  blockNumber: number | null
  /** Also `null` when no node reported it. */
  blockHash: Hex | null
  transactionHash: Hex | null
  /** Who issued, changed or erased it; `null` when it is unknown, and for other events. */
  actor: Actor | null
}

/** The place of an event in the log: `evt_<milliseconds>_<number>`. */
type EventId = `evt_${number}_${number}`

/**
 * The parts of an {@link EventId}. A restored backup may use the same numbers again, but at a later
 * time.
 */
export type EventPlace = { time: number; number: number }

export function formatEventId({ time, number }: EventPlace): EventId {
  return `evt_${time}_${number}`
}

/** @returns `undefined` for text that is not the id of an event. */
export function parseEventId(text: string): EventPlace | undefined {
  const [, time, number] = /^evt_(0|[1-9]\d{0,14})_([1-9]\d{0,14})$/.exec(text) ?? []
  return time === undefined ? undefined : { time: Number(time), number: Number(number) }
}

export type EventQuery = {
  /** Only events after this one; absent = from the oldest in the log. */
  after?: EventPlace
  /** Absent = all types. */
  types?: readonly EventType[]
  /** The tenant of the events; absent = all tenants, and events without one. */
  tenant?: string
  /** The maximum number of events to return. */
  limit: number
}

export type EventPage = {
  events: DocumentEvent[]
  /**
   * The place where the next page begins. It may name an event that the query leaves out, because a
   * page ends after a bounded number of events, whether or not they match. `undefined` in an empty
   * log.
   */
  next: EventPlace | undefined
  /** Whether there are later events, matching or not. */
  hasMore: boolean
}

/**
 * The log of events, the oldest first. An event is written together with the outcome that it
 * reports.
 */
export type EventLog = {
  /**
   * Returns only events that are on disk.
   *
   * @returns `unknown_event` when the event after which the page begins is not in the log, or no
   * longer is. Later ones may then be missing too.
   */
  read(query: EventQuery): Promise<EventPage | 'unknown_event'>
  /**
   * Disables the webhooks to which an event from before this time must still be sent.
   *
   * @param before Milliseconds of the Unix epoch.
   * @returns The ids of these webhooks.
   */
  leaveBehind(before: number): Promise<string[]>
  /**
   * Deletes some events from before this time, in milliseconds of the Unix epoch. It keeps the
   * newest event, which readers may name, and all from the first one that must still be sent to an
   * enabled webhook.
   *
   * @returns Whether there may be more to delete.
   */
  prune(before: number): Promise<boolean>
}

/** An event as the REST API and webhooks show it. */
export type PresentedEvent = {
  id: string
  type: EventType
  timestamp: string
  data: ({ documentHash: Hex } | { batchRoot: Hex }) &
    Pick<DocumentEvent, 'blockNumber' | 'blockHash' | 'transactionHash' | 'tenant' | 'actor'>
}

/**
 * @param reader The tenant that reads it; `null` = all tenants. Nobody else learns the actor.
 * @returns An event as the REST API and webhooks show it. The same event always gives the same
 * reader the same JSON.
 */
export function presentEvent(
  { id, type, time, ...about }: DocumentEvent,
  reader: string | null,
): PresentedEvent {
  const { documentHash, blockNumber, blockHash, transactionHash, tenant, actor } = about
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
      actor: reader === null || reader === tenant ? actor : null,
    },
  }
}

/**
 * Deletes events that are older than `retention`, in slices.
 *
 * @param retention A duration in milliseconds.
 * @param interval Milliseconds between two runs.
 * @returns A function that stops it.
 */
export function pruneEvents(
  events: Pick<EventLog, 'prune' | 'leaveBehind'>,
  { retention, certainTime }: { retention: number; certainTime: CertainTime },
  log: Log,
  interval = PRUNE_INTERVAL_MS,
): () => Promise<void> {
  async function prune(signal: AbortSignal): Promise<void> {
    const now = await certainTime()
    if (now === undefined) return
    for (const webhook of await events.leaveBehind(now - LONGER * retention))
      log.warn('webhook_disabled', { webhook, reason: 'behind' })
    while (!signal.aborted && (await events.prune(now - retention)))
      await sleep(PRUNE_PAUSE_MS, undefined, { signal }).catch(() => {})
  }

  return repeat(interval, prune, (error) => log.warn('events_not_pruned', { error: String(error) }))
}
