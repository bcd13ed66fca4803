import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '../../document/hex.ts'
import { presentEvent } from '../events.ts'
import type { Log } from '../log.ts'
import type { Deliveries, Delivery, Turn, TurnResult } from './deliveries.ts'
import {
  MAX_FAILURES_IN_A_ROW,
  nextTryAt,
  pauseAfter,
  RETRY_PERIOD_MS,
  restAfter,
} from './retries.ts'
import type { WebhookSecrets } from './secrets.ts'
import type { Webhook, WebhookId } from './webhook.ts'

const POLL_INTERVAL_MS = 250
/** Maximum deliveries of a turn, after which their results are written. */
const MAX_DELIVERIES_PER_TURN = 50
/** Maximum documents that one receiver is sent at the same time. */
const MAX_SENDS_PER_WEBHOOK = 4
/** Maximum turns at the same time. */
const MAX_TURNS = 8

/** What an attempt came to. */
export type Attempt = {
  /** `gone` = the receiver wants nothing any more (410). */
  outcome: 'delivered' | 'failed' | 'gone'
  /** How long the receiver asks to be left alone. */
  retryAfterMs?: number
}

/**
 * Sends a message once. Never rejects.
 *
 * @param secrets The newest first; the message is signed with each.
 */
export type SendMessage = (
  url: string,
  message: { id: string; body: string; secrets: readonly string[] },
  signal: AbortSignal,
) => Promise<Attempt>

/** How often an attempt came to this. */
export type CountAttempt = (outcome: 'delivered' | 'failed' | 'given_up') => void

/**
 * Sends events to webhooks: each at least once, with the same id each time, and those of one document
 * in order. A failed delivery holds back later ones of its document only.
 *
 * @returns A function that stops it. Deliveries under way are sent again after the next start.
 */
export function startCourier(deps: {
  deliveries: Deliveries
  secrets: WebhookSecrets
  send: SendMessage
  /** Rejects when another gateway is the courier: this one may have been stopped for a while. */
  assertHeld: () => Promise<void>
  count: CountAttempt
  log: Log
}): () => Promise<void> {
  const { deliveries, log } = deps
  const stop = new AbortController()
  const { signal } = stop
  const working = new Map<WebhookId, Promise<void>>()
  const pauses = createPauses()

  async function work(id: WebhookId): Promise<void> {
    try {
      while (!signal.aborted && !pauses.isPaused(id)) {
        const limit = pauses.isDown(id) ? 1 : MAX_DELIVERIES_PER_TURN
        const turn = await deliveries.turn(id, Date.now(), limit)
        if (!turn) return
        const attempts = await sendAll(deps, turn, signal)
        if (signal.aborted) return
        const isBack = pauses.note(id, [...attempts.values()])
        const result = { ...resultOf(turn, attempts, Date.now()), isBack }
        await deliveries.record(turn, result)
        report(deps, turn, attempts, result)
      }
    } catch (error) {
      // What was sent and could not be noted is sent again, but not at once.
      pauses.rest(id)
      log.warn('webhook_turn_failed', { webhook: id, error: String(error) })
    }
  }

  async function look(): Promise<void> {
    for (const id of await deliveries.due(Date.now())) {
      if (working.size >= MAX_TURNS) return
      if (working.has(id) || pauses.isPaused(id)) continue
      const done = work(id).finally(() => working.delete(id))
      working.set(id, done)
    }
  }

  async function run(): Promise<void> {
    while (await sleep(POLL_INTERVAL_MS, true, { signal }).catch(() => false))
      await look().catch((error) => log.warn('webhooks_unread', { error: String(error) }))
  }

  const running = run()
  return async () => {
    stop.abort()
    await Promise.all([running, ...working.values()])
  }
}

type Sending = { secrets: WebhookSecrets; send: SendMessage; assertHeld: () => Promise<void> }

/** @returns What became of each delivery that was attempted. */
async function sendAll(
  { secrets, send, assertHeld }: Sending,
  turn: Turn,
  signal: AbortSignal,
): Promise<Map<Delivery, Attempt>> {
  const { webhook, retries, fresh, held } = turn
  const attempts = new Map<Delivery, Attempt>()
  let wantsRest = false
  const chains = chainsOf([
    ...retries,
    ...fresh.filter(({ event }) => !held.has(event.documentHash)),
  ])

  /** Sends the deliveries of one document, until one fails. */
  async function sendChain(chain: readonly Delivery[]): Promise<void> {
    for (const delivery of chain) {
      if (signal.aborted || wantsRest) return
      await assertHeld()
      const message = {
        id: delivery.event.id,
        body: JSON.stringify(presentEvent(delivery.event)),
        secrets: secrets.current(webhook, Date.now()),
      }
      const attempt = await send(webhook.url, message, signal)
      attempts.set(delivery, attempt)
      wantsRest ||= attempt.retryAfterMs !== undefined
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
): Omit<TurnResult, 'isBack'> {
  const all = [...retries, ...fresh]
  const outcomes = new Set([...attempts.values()].map(({ outcome }) => outcome))
  const delivered = all.filter((one) => attempts.get(one)?.outcome === 'delivered')
  const failed = all.filter((one) => attempts.has(one) && !delivered.includes(one))
  const isGivenUp = ({ failedSince }: Delivery) =>
    failedSince !== null && now - failedSince >= RETRY_PERIOD_MS
  const failingSince = failingSinceOf(webhook, outcomes, now)
  const isFailing = failingSince !== null && now - failingSince >= RETRY_PERIOD_MS
  const disabledReason = outcomes.has('gone') ? 'gone' : isFailing ? 'failing' : null
  // When the receiver is at fault, nothing is given up: it may be enabled again.
  const givenUp = disabledReason === null ? failed.filter(isGivenUp) : []
  const waiting = failed
    .filter((one) => !givenUp.includes(one))
    .map((one) => ({
      ...one,
      attempts: one.attempts + 1,
      failedSince: one.failedSince ?? now,
      nextAt: nextTryAt(one.attempts + 1, now, attempts.get(one)?.retryAfterMs),
    }))
  // Not attempted: an earlier event of the document comes first, or the receiver wants a rest.
  const behind = fresh.filter((one) => !attempts.has(one)).map((one) => ({ ...one, nextAt: 0 }))
  return { delivered, givenUp, failingSince, disabledReason, waiting: [...waiting, ...behind] }
}

function failingSinceOf(
  { failingSince }: Webhook,
  outcomes: ReadonlySet<Attempt['outcome']>,
  now: number,
): number | null {
  if (outcomes.has('delivered')) return null
  return outcomes.size === 0 ? failingSince : (failingSince ?? now)
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

/** Spares receivers that are down. Only in memory: a restart tries once more. */
function createPauses() {
  /** Failures in a row, pauses so far, and the end of the newest; milliseconds of the Unix epoch. */
  const failing = new Map<WebhookId, { failures: number; pauses: number; until: number }>()
  return {
    isDown: (id: WebhookId) => (failing.get(id)?.pauses ?? 0) > 0,
    isPaused: (id: WebhookId) => Date.now() < (failing.get(id)?.until ?? 0),
    /** Begins a pause for a reason of our own. */
    rest(id: WebhookId): void {
      const { failures, pauses } = failing.get(id) ?? { failures: 0, pauses: 0 }
      failing.set(id, { failures, pauses, until: Date.now() + pauseAfter(0) })
    },
    /** @returns Whether a receiver that was down is back. */
    note(id: WebhookId, attempts: readonly Attempt[]): boolean {
      const { failures, pauses } = failing.get(id) ?? { failures: 0, pauses: 0 }
      const restMs = Math.max(0, ...attempts.map(({ retryAfterMs = 0 }) => restAfter(retryAfterMs)))
      const isBack = attempts.some(({ outcome }) => outcome === 'delivered')
      if (isBack && restMs === 0) return failing.delete(id) && pauses > 0
      const more = failures + attempts.length
      const isDown = attempts.length > 0 && more >= MAX_FAILURES_IN_A_ROW
      const pauseMs = Math.max(restMs, isDown && !isBack ? pauseAfter(pauses) : 0)
      failing.set(id, {
        failures: isBack ? 0 : more,
        pauses: pauseMs > 0 ? pauses + 1 : pauses,
        until: Date.now() + pauseMs,
      })
      return isBack && pauses > 0
    },
  }
}
