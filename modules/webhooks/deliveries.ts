import type { Hex } from '#document/hex.ts'
import type { DocumentEvent } from '#events/events.ts'
import type { Webhook, WebhookId } from './webhook.ts'

/** The maximum number of events that one turn scans, whether or not they concern the webhook. */
export const MAX_SCANNED = 1_000
/**
 * The maximum number of waiting deliveries of one webhook. Later events stay in the log until one
 * is delivered.
 */
export const MAX_WAITING = 1_000

/** An event for a webhook. */
export type Delivery = {
  /** Its place in the log. */
  number: number
  event: DocumentEvent
  /** Failed attempts so far. */
  attempts: number
  /** When the first attempt failed, in milliseconds of the Unix epoch. */
  failedSince: number | null
}

/** The deliveries that can be sent to a webhook now. */
export type Turn = {
  webhook: Webhook
  /** Deliveries that failed before, at most one for each document. */
  retries: Delivery[]
  /** The next events, oldest first. */
  fresh: Delivery[]
  /** Documents with a delivery that failed before. Their fresh events wait for it. */
  held: ReadonlySet<Hex>
  /**
   * A number that changes with each result, replay and change of the webhook, which void the turn.
   */
  epoch: number
  /** The place in the log up to which all events are in `fresh` or do not concern the webhook. */
  upTo: number
}

/** The result of a turn. */
export type TurnResult = {
  delivered: readonly Delivery[]
  /** `nextAt` is the time of the next attempt, in milliseconds of the Unix epoch. */
  waiting: readonly (Delivery & { nextAt: number })[]
  /** Deliveries that have been tried for long enough. */
  givenUp: readonly Delivery[]
  failingSince: number | null
  disabledReason: Webhook['disabledReason']
  /** Absent when the receiver accepted nothing. */
  release?: Release
}

/** The deliveries to send sooner to a receiver that accepts deliveries again. */
type Release = {
  /**
   * When it began to fail. Deliveries that have failed for the first time since then are due at
   * once, because the receiver may have been at fault. `null` = it did not fail.
   */
  failingSince: number | null
  /** The latest time at which the rest is due. */
  latest: number
}

/** An enabled webhook to which something may have to be sent. */
export type DueWebhook = Pick<Webhook, 'id' | 'tenant'>

/** The deliveries as the courier needs them. Each event is delivered at least once. */
export type Deliveries = {
  due(now: number): Promise<DueWebhook[]>
  /**
   * Returns only events that are on disk.
   *
   * @returns `undefined` when there is nothing to send now.
   */
  turn(id: WebhookId, now: number, limit: number): Promise<Turn | undefined>
  /**
   * Writes the result of a turn. Writes nothing if the webhook has changed since, or the result of
   * another turn was written.
   */
  record(turn: Turn, result: TurnResult): Promise<void>
}
