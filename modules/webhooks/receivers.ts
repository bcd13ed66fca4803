import type { DueWebhook } from './deliveries.ts'
import { MAX_FAILURES_IN_A_ROW, pauseAfter, restAfter } from './retries.ts'
import type { WebhookId } from './webhook.ts'

/** A receiver that takes longer than this to answer counts as slow. */
export const SLOW_MS = 1_000
/** The maximum number of turns at the same time. */
const MAX_TURNS = 16
/** The maximum number of these turns for slow receivers. */
const MAX_SLOW_TURNS = 8
/** The maximum number of deliveries in a turn, after which their results are written. */
const MAX_DELIVERIES_PER_TURN = 50
/** The maximum number of documents whose events are sent to one receiver at the same time. */
export const MAX_SENDS_PER_WEBHOOK = 4
/** If there are more receivers, those that were recorded first are forgotten. */
const MAX_KNOWN = 10_000

/** The outcome of an attempt. */
export type Attempt = {
  /** `gone` = the receiver wants no more events (410). */
  outcome: 'delivered' | 'failed' | 'gone'
  /** How long the receiver asks for a pause. */
  retryAfterMs?: number
}

/** An attempt, and how long it took. */
export type Attempted = Attempt & { tookMs: number }

type Known = {
  /** The number of failures in a row. */
  failures: number
  /** The number of pauses so far. */
  pauses: number
  /** The end of the newest pause, as `performance.now()`. */
  pausedUntil: number
  isSlow: boolean
  /** Whether the receiver ever was slow. */
  wasSlow: boolean
  /** When its last turn ended, as `performance.now()`. */
  servedAt: number
}

const UNKNOWN: Known = {
  failures: 0,
  pauses: 0,
  pausedUntil: 0,
  isSlow: false,
  wasSlow: false,
  servedAt: 0,
}

/** The state of receivers, as the courier knows it. */
export type Receivers = ReturnType<typeof createReceivers>

/**
 * Keeps this in memory only. It spares receivers and promises nothing; after a restart all of them
 * are tried again.
 */
export function createReceivers() {
  const known = new Map<WebhookId, Known>()
  const of = (id: WebhookId) => known.get(id) ?? UNKNOWN

  function set(id: WebhookId, changed: Partial<Known>): void {
    const next = { ...of(id), ...changed }
    known.delete(id)
    known.set(id, next)
    const [first] = known.keys()
    if (known.size > MAX_KNOWN && first !== undefined) known.delete(first)
  }

  return {
    isPaused: (id: WebhookId) => performance.now() < of(id).pausedUntil,
    isSlow: (id: WebhookId) => of(id).isSlow,
    servedAt: (id: WebhookId) => of(id).servedAt,

    /** @returns The maximum number of deliveries in the next turn of a receiver. */
    limitOf(id: WebhookId): number {
      const { pauses, isSlow } = of(id)
      if (pauses > 0) return 1
      // More deliveries would only be recorded as waiting.
      return isSlow ? MAX_SENDS_PER_WEBHOOK : MAX_DELIVERIES_PER_TURN
    },

    /** Begins a pause for a reason of the gateway itself. */
    rest(id: WebhookId): void {
      set(id, { pausedUntil: performance.now() + pauseAfter(0) })
    },

    /**
     * @param attempts The attempts of one turn.
     * @returns Whether the receiver is slow for the first time.
     */
    note(id: WebhookId, attempts: readonly Attempted[]): boolean {
      const now = performance.now()
      const before = of(id)
      const restMs = Math.max(0, ...attempts.map(({ retryAfterMs = 0 }) => restAfter(retryAfterMs)))
      const isBack = attempts.some(({ outcome }) => outcome === 'delivered')
      const failures = isBack ? 0 : before.failures + attempts.length
      const isDown = attempts.length > 0 && failures >= MAX_FAILURES_IN_A_ROW
      const pauseMs = Math.max(restMs, isDown ? pauseAfter(before.pauses) : 0)
      const pauses = isBack ? 0 : before.pauses
      const isSlow = attempts.length > 0 ? attempts.some(isLong) : before.isSlow
      set(id, {
        failures,
        pauses: pauseMs > 0 ? before.pauses + 1 : pauses,
        pausedUntil: now + pauseMs,
        isSlow,
        wasSlow: isSlow || before.wasSlow,
        servedAt: now,
      })
      return isSlow && !before.wasSlow
    },
  }
}

const isLong = ({ tookMs }: Attempted) => tookMs > SLOW_MS

/** The current turns. */
type Turns = ReadonlyMap<WebhookId, { tenant: string | null; began: number }>

/**
 * Quick receivers come before slow ones, then the tenant with the fewest turns, then the receiver
 * that has waited longest. A tenant may have at most as many turns as places that it leaves free,
 * so that others always find one.
 *
 * @returns The receiver that has the next turn; `undefined` when no receiver that may have one
 * waits.
 */
export function nextOf(
  due: readonly DueWebhook[],
  turns: Turns,
  { isPaused, isSlow, servedAt }: Receivers,
): DueWebhook | undefined {
  const all = [...turns]
  const slow = all.filter(([id, turn]) => isSlow(id) || isLate(turn))
  const [turnsOf, slowTurnsOf] = [countOf(all), countOf(slow)]
  const mayHave = ({ id, tenant }: DueWebhook) =>
    turnsOf(tenant) < MAX_TURNS - all.length &&
    (!isSlow(id) || slowTurnsOf(tenant) < MAX_SLOW_TURNS - slow.length)
  const rankOf = ({ id, tenant }: DueWebhook): Rank => [
    Number(isSlow(id)),
    turnsOf(tenant),
    servedAt(id),
  ]
  let best: DueWebhook | undefined
  for (const one of due) {
    if (turns.has(one.id) || isPaused(one.id) || !mayHave(one)) continue
    if (best === undefined || isBefore(rankOf(one), rankOf(best))) best = one
  }
  return best
}

/**
 * Turns of quick receivers end before this, because the last delivery begins within {@link
 * SLOW_MS}.
 */
const isLate = ({ began }: { began: number }) => performance.now() - began > 2 * SLOW_MS

/** @returns The number of turns that a tenant has. */
function countOf(turns: readonly [WebhookId, { tenant: string | null }][]) {
  const counts = new Map<string | null, number>()
  for (const [, { tenant }] of turns) counts.set(tenant, (counts.get(tenant) ?? 0) + 1)
  return (tenant: string | null) => counts.get(tenant) ?? 0
}

type Rank = readonly [slow: number, turns: number, servedAt: number]

function isBefore(one: Rank, other: Rank): boolean {
  const i = one.findIndex((rank, at) => rank !== other[at])
  return i >= 0 && (one[i] ?? 0) < (other[i] ?? 0)
}
