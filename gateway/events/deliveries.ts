import type { Hex } from '#document/hex.ts'
import type { DocumentEvent } from './events.ts'
import type { Webhook, WebhookId } from './webhook.ts'

/** Maximum events that one turn scans, whether they concern the webhook or not. */
export const MAX_SCANNED = 1_000
/** Deliveries of one webhook that may wait; later events stay in the log until one is delivered. */
export const MAX_WAITING = 1_000

/** An event for a webhook. */
export type Delivery = {
  /** Its place in the log. */
  number: number
  event: DocumentEvent
  /** Failed attempts so far. */
  attempts: number
  /** When the first attempt failed; milliseconds of the Unix epoch. */
  failedSince: number | null
}

/** What a webhook can be sent now. */
export type Turn = {
  webhook: Webhook
  /** Deliveries that failed before, at most one for each document. */
  retries: Delivery[]
  /** The next events, oldest first. */
  fresh: Delivery[]
  /**
   * Documents with a delivery that failed before: their fresh events wait for it.
   */
  held: ReadonlySet<Hex>
  /** Changes with each result, replay and change of the webhook, which void the turn. */
  epoch: number
  /** The place in the log up to which events are in `fresh`, or do not concern the webhook. */
  upTo: number
}

/** What has become of a turn. */
export type TurnResult = {
  delivered: readonly Delivery[]
  /** `nextAt` is when to try (again); milliseconds of the Unix epoch. */
  waiting: readonly (Delivery & { nextAt: number })[]
  /** Tried for long enough. */
  givenUp: readonly Delivery[]
  failingSince: number | null
  disabledReason: Webhook['disabledReason']
  /** Absent when the receiver accepted nothing. */
  release?: Release
}

/** What to send sooner to a receiver that accepts something again. */
type Release = {
  /**
   * When it began to fail. What has failed for the first time since then is due at once, because
   * the receiver may have been at fault. `null` = it did not fail.
   */
  failingSince: number | null
  /** When the rest is due at the latest. */
  latest: number
}

/** An enabled webhook that may have something to be sent. */
export type DueWebhook = Pick<Webhook, 'id' | 'tenant'>

/** The deliveries, for the courier. Each event is delivered at least once. */
export type Deliveries = {
  due(now: number): Promise<DueWebhook[]>
  /**
   * Returns only events that are on the disk.
   *
   * @returns `undefined` when there is nothing to send now.
   */
  turn(id: WebhookId, now: number, limit: number): Promise<Turn | undefined>
  /**
   * Writes the result; nothing, if the webhook has changed meanwhile, or the result of another turn
   * was written.
   */
  record(turn: Turn, result: TurnResult): Promise<void>
  /** For monitoring. */
  backlog(): Promise<Backlog>
}

type Backlog = {
  /** Events that enabled webhooks have still to be sent, matching their types or not. */
  events: number
  /** Enabled webhooks whose last attempt failed. */
  failing: number
  /** Webhooks that were disabled because their receiver failed or was gone. */
  disabled: number
}
