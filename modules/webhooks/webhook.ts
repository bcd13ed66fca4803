import type { Hex } from '#document/hex.ts'
import type { EventPlace, EventType } from '#events/events.ts'

/** The source of a signing secret. It is useless without the issuer secret. */
export type SecretSource = {
  /** 32 random bytes. */
  salt: Hex
  /** The fingerprint of the issuer secret from which the signing secret is derived. */
  fingerprint: Hex
  /** Milliseconds of the Unix epoch; `null` for the newest, which has no end. */
  until: number | null
}

/**
 * Why nothing is sent: `request` = a client disabled it; `failing` = nothing was accepted for three
 * days; `gone` = the receiver answered 410; `behind` = it was so far behind that events were
 * deleted which it had not been sent.
 */
type DisabledReason = 'request' | 'failing' | 'gone' | 'behind'

/** A receiver of events. Times are in milliseconds of the Unix epoch. */
export type Webhook = {
  id: WebhookId
  /** The tenant whose events it gets; `null` = events of all tenants, and those without one. */
  tenant: string | null
  /** The id of the API key that made it. */
  createdBy: string
  createdAt: number
  url: string
  /** `null` = all types. */
  types: readonly EventType[] | null
  disabledReason: DisabledReason | null
  /** When the first attempt since the last successful one failed. */
  failingSince: number | null
  /** The newest first. */
  secrets: readonly SecretSource[]
}

export type WebhookId = `wh_${string}`

/** The members that a client may change, and a rotation of secrets. */
type WebhookChange = Partial<
  Pick<Webhook, 'url' | 'types' | 'secrets' | 'disabledReason' | 'failingSince'>
>

/** Where to begin sending events again: after an event, or from a time on. */
export type ReplayFrom = { after: EventPlace } | { since: number }

/** The webhooks, as requests use them. A change resolves when it is durable. */
export type Webhooks = {
  /**
   * Adds a webhook, which gets the events from now on.
   *
   * @returns `false` when its tenant already has the maximum number.
   */
  add(webhook: Webhook): Promise<boolean>
  /** @param tenant The tenant; absent = all tenants. */
  list(tenant?: string): Promise<Webhook[]>
  /**
   * Changes a webhook. A webhook that is enabled again continues where it stopped.
   *
   * @param changeOf Receives the current webhook. No other change comes in between.
   * @returns `undefined` when there is no webhook with this id.
   */
  change(id: WebhookId, changeOf: (webhook: Webhook) => WebhookChange): Promise<Webhook | undefined>
  remove(id: WebhookId): Promise<void>
  /**
   * Sends events again, with the same ids.
   *
   * @returns `unknown_event` when the event is not, or no longer, in the log.
   */
  replay(id: WebhookId, from: ReplayFrom): Promise<'replayed' | 'unknown_event'>
}
