import type { CertainTime, Clock } from '#base/clock.ts'
import { repeat } from '#base/concurrency.ts'
import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import { presentEvent } from '#events/events.ts'
import type { Deliveries, Delivery, DueWebhook, Turn, TurnResult } from './deliveries.ts'
import {
  type Attempt,
  type Attempted,
  createReceivers,
  MAX_SENDS_PER_WEBHOOK,
  nextOf,
  type Receivers,
  SLOW_MS,
} from './receivers.ts'
import { findLate, type IsLate, MAX_DELAY_WHEN_WELL_MS, nextTryAt } from './retries.ts'
import type { WebhookSecrets } from './secrets.ts'
import type { Webhook, WebhookId } from './webhook.ts'

const POLL_INTERVAL_MS = 250

/**
 * Sends a message once. Never rejects.
 *
 * @param secrets The secrets, the newest first. The message is signed with each of them.
 */
export type SendMessage = (
  url: string,
  message: { id: string; body: string; secrets: readonly string[] },
  signal: AbortSignal,
) => Promise<Attempt>

/** Counts attempts by their outcome. */
type CountAttempt = (outcome: 'delivered' | 'failed' | 'given_up') => void

/**
 * Shows the webhooks that have a turn, by whether their receiver is slow, and those that wait for
 * one.
 */
type ShowTurns = (turns: { quick: number; slow: number; waiting: number }) => void

type CourierDeps = {
  deliveries: Deliveries
  secrets: WebhookSecrets
  send: SendMessage
  /**
   * Rejects when another gateway is the courier, because this one may have been stopped for a
   * while.
   */
  assertHeld: () => Promise<void>
  clock: Pick<Clock, 'now'>
  /** Decides when something is given up. */
  certainTime: CertainTime
  count: CountAttempt
  showTurns: ShowTurns
  log: Log
}

/**
 * Sends events to webhooks, each at least once and with the same id each time. Events of one
 * document are sent in order; a failed delivery holds back only later ones of its document.
 *
 * @returns A function that stops it. Unfinished deliveries are sent again after the next start.
 */
export function startCourier(deps: CourierDeps): () => Promise<void> {
  const { deliveries, clock, log } = deps
  const stop = new AbortController()
  const { signal } = stop
  const receivers = createReceivers()
  const turns = new Map<WebhookId, { tenant: string | null; began: number; done: Promise<void> }>()
  /** The due webhooks as of the last poll. */
  let due: DueWebhook[] = []

  /** Starts the turns for which there is a place. */
  function begin(): void {
    for (let one = next(); one; one = next()) {
      const { id, tenant } = one
      due.splice(due.indexOf(one), 1)
      const done = take(one).finally(() => {
        turns.delete(id)
        begin()
      })
      turns.set(id, { tenant, began: performance.now(), done })
    }
  }

  const next = () => (signal.aborted ? undefined : nextOf(due, turns, receivers))

  async function take(webhook: DueWebhook): Promise<void> {
    try {
      // The webhook may have more to be sent, but others come first.
      if (await takeTurn(deps, webhook.id, receivers, signal)) due.push(webhook)
    } catch (error) {
      // An event that was sent but could not be recorded is sent again, but not at once.
      receivers.rest(webhook.id)
      log.warn('webhook_turn_failed', { webhook: webhook.id, error: String(error) })
    }
  }

  async function poll(): Promise<void> {
    due = await deliveries.due(clock.now())
    begin()
    const slow = [...turns.keys()].filter(receivers.isSlow).length
    const waiting = due.filter(({ id }) => !(turns.has(id) || receivers.isPaused(id))).length
    deps.showTurns({ quick: turns.size - slow, slow, waiting })
  }

  const stopPolling = repeat(POLL_INTERVAL_MS, poll, (error) =>
    log.warn('webhooks_unread', { error: String(error) }),
  )
  return async () => {
    stop.abort()
    await Promise.all([stopPolling(), ...[...turns.values()].map(({ done }) => done)])
    deps.showTurns({ quick: 0, slow: 0, waiting: 0 })
  }
}

/** @returns Whether there was something to send. */
async function takeTurn(
  deps: CourierDeps,
  id: WebhookId,
  receivers: Receivers,
  signal: AbortSignal,
): Promise<boolean> {
  const { deliveries, clock, log } = deps
  const turn = await deliveries.turn(id, clock.now(), receivers.limitOf(id))
  if (!turn) return false
  const attempts = await sendAll(deps, turn, signal)
  if (signal.aborted) return false
  if (receivers.note(id, [...attempts.values()])) log.info('webhook_slow', { webhook: id })
  const isLate = await findLate(turn, deps)
  const result = resultOf(turn, attempts, clock.now(), isLate)
  await deliveries.record(turn, result)
  report(deps, turn, attempts, result)
  return true
}

type Sending = Pick<CourierDeps, 'secrets' | 'send' | 'assertHeld' | 'clock'>

/** @returns The outcome of each delivery that was attempted, in the order of the answers. */
async function sendAll(
  { secrets, send, assertHeld, clock }: Sending,
  turn: Turn,
  signal: AbortSignal,
): Promise<Map<Delivery, Attempted>> {
  const { webhook, retries, fresh, held } = turn
  const attempts = new Map<Delivery, Attempted>()
  const began = performance.now()
  let isOver = false
  const chains = chainsOf([
    ...retries,
    ...fresh.filter(({ event }) => !held.has(event.documentHash)),
  ])

  /** Sends the deliveries of one document, until one fails. */
  async function sendChain(chain: readonly Delivery[]): Promise<void> {
    for (const delivery of chain) {
      if (signal.aborted || isOver) return
      await assertHeld()
      const message = {
        id: delivery.event.id,
        body: JSON.stringify(presentEvent(delivery.event, webhook.tenant)),
        secrets: secrets.current(webhook, clock.now()),
      }
      const sentAt = performance.now()
      const attempt = await send(webhook.url, message, signal)
      const now = performance.now()
      attempts.set(delivery, { ...attempt, tookMs: now - sentAt })
      // The receiver asked for a pause, or others wait for their turn.
      isOver ||= attempt.retryAfterMs !== undefined || now - began > SLOW_MS
      if (attempt.outcome !== 'delivered') return
    }
  }

  async function sendNext(): Promise<void> {
    for (let chain = chains.shift(); chain; chain = chains.shift()) await sendChain(chain)
  }

  await Promise.all(Array.from({ length: MAX_SENDS_PER_WEBHOOK }, sendNext))
  return attempts
}

/** @returns The deliveries of each document, in their order. */
function chainsOf(deliveries: readonly Delivery[]): Delivery[][] {
  const chains = new Map<Hex, Delivery[]>()
  for (const delivery of deliveries) {
    const { documentHash } = delivery.event
    const chain = chains.get(documentHash) ?? []
    chains.set(documentHash, chain)
    chain.push(delivery)
  }
  return [...chains.values()]
}

function resultOf(
  { webhook, retries, fresh }: Turn,
  attempts: ReadonlyMap<Delivery, Attempt>,
  now: number,
  isLate: IsLate,
): TurnResult {
  const all = [...retries, ...fresh]
  const isGone = [...attempts.values()].some(({ outcome }) => outcome === 'gone')
  const delivered = all.filter((one) => attempts.get(one)?.outcome === 'delivered')
  const failed = all.filter((one) => attempts.has(one) && !delivered.includes(one))
  const failingSince = failingSinceOf(webhook, attempts, now)
  const disabledReason = isGone ? 'gone' : isLate(failingSince) ? 'failing' : null
  // When the receiver is at fault, nothing is given up, because it may be enabled again.
  const givenUp =
    disabledReason === null ? failed.filter(({ failedSince }) => isLate(failedSince)) : []
  const waiting = failed
    .filter((one) => !givenUp.includes(one))
    .map((one) => ({
      ...one,
      attempts: one.attempts + 1,
      failedSince: Math.min(one.failedSince ?? now, now),
      nextAt: nextTryAt(one.attempts + 1, now, attempts.get(one)?.retryAfterMs),
    }))
  // These were not attempted, because an earlier event of the document comes first, or the turn was
  // over.
  const behind = fresh.filter((one) => !attempts.has(one)).map((one) => ({ ...one, nextAt: 0 }))
  const release = { failingSince: webhook.failingSince, latest: now + MAX_DELAY_WHEN_WELL_MS }
  return {
    delivered,
    givenUp,
    failingSince,
    disabledReason,
    waiting: [...waiting, ...behind],
    ...(delivered.length > 0 && { release }),
  }
}

/** @returns When the first attempt since the last successful one failed. */
function failingSinceOf(
  { failingSince }: Webhook,
  attempts: ReadonlyMap<Delivery, Attempt>,
  now: number,
): number | null {
  let since = failingSince
  for (const { outcome } of attempts.values())
    since = outcome === 'delivered' ? null : Math.min(since ?? now, now)
  return since
}

function report(
  { count, log }: { count: CountAttempt; log: Log },
  { webhook }: Turn,
  attempts: ReadonlyMap<Delivery, Attempt>,
  { givenUp, disabledReason: reason }: TurnResult,
): void {
  for (const { outcome } of attempts.values()) count(outcome === 'delivered' ? outcome : 'failed')
  for (const { event } of givenUp) {
    count('given_up')
    log.warn('webhook_delivery_given_up', { webhook: webhook.id, event: event.id })
  }
  if (reason) log.warn('webhook_disabled', { webhook: webhook.id, reason })
}
