import type { Hex } from '#document/hex.ts'
import type { EventPlace, EventType } from './events.ts'

/** What a signing secret is derived from; without the issuer secret it tells nothing. */
export type SecretSource = {
  /** 32 random bytes. */
  salt: Hex
  /** Fingerprint of the issuer secret that it is derived from. */
  fingerprint: Hex
  /** Milliseconds of the Unix epoch; `null` for the newest, which has no end. */
  until: number | null
}

/**
 * Why nothing is sent: `request` = by a client; `failing` = nothing was accepted for three days;
 * `gone` = the receiver answered 410; `behind` = it was so far behind that events were deleted
 * which it had still to be sent.
 */
type DisabledReason = 'request' | 'failing' | 'gone' | 'behind'

/** A receiver of events. Times are in milliseconds of the Unix epoch. */
export type Webhook = {
  id: WebhookId
  /** Whose events it gets; `null` = of all tenants, and of none. */
  tenant: string | null
  /** The id of the API key that made it. */
  createdBy: string
  createdAt: number
  url: string
  /** `null` = all types. */
  types: readonly EventType[] | null
  disabledReason: DisabledReason | null
  /** When the first attempt failed since the last one that succeeded. */
  failingSince: number | null
  /** The newest first. */
  secrets: readonly SecretSource[]
}

export type WebhookId = `wh_${string}`

/** What a client may change, and a rotation of secrets. */
type WebhookChange = Partial<
  Pick<Webhook, 'url' | 'types' | 'secrets' | 'disabledReason' | 'failingSince'>
>

/** Where events are sent again from: after an event, or from a time on. */
export type ReplayFrom = { after: EventPlace } | { since: number }

/** The webhooks, for requests. A change resolves when it is durable. */
export type Webhooks = {
  /**
   * Adds a webhook, which gets the events from now on.
   *
   * @returns `false` when its tenant has the maximum number already.
   */
  add(webhook: Webhook): Promise<boolean>
  /** @param tenant Absent = of all tenants. */
  list(tenant?: string): Promise<Webhook[]>
  /**
   * Changes a webhook. One that is enabled again goes on where it stopped.
   *
   * @param changeOf Gets the webhook as it is; no other change comes in between.
   * @returns `undefined` when there is none with this id.
   */
  change(id: WebhookId, changeOf: (webhook: Webhook) => WebhookChange): Promise<Webhook | undefined>
  remove(id: WebhookId): Promise<void>
  /**
   * Sends events again, with the same ids.
   *
   * @returns `unknown_event` when the event is not in the log, or no longer.
   */
  replay(id: WebhookId, from: ReplayFrom): Promise<'replayed' | 'unknown_event'>
}
