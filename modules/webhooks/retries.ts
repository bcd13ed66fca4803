import type { CertainTime, Clock } from '#base/clock.ts'
import type { Turn } from './deliveries.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** How long a delivery is tried, and how long a receiver may fail before it is disabled. */
export const RETRY_PERIOD_MS = 72 * HOUR_MS

/**
 * The waits after the first failed attempts, as Standard Webhooks recommends. The last one is
 * repeated.
 */
const RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
]
const LAST_DELAY_MS = 10 * HOUR_MS
/** The share of a wait that is added at random, so that retries spread out. */
const JITTER = 0.2
/** A longer wait was recorded by a clock that was ahead. */
export const MAX_DELAY_MS = LAST_DELAY_MS * (1 + JITTER)
/** The maximum wait of a failed delivery once its receiver accepts others. */
export const MAX_DELAY_WHEN_WELL_MS = 5 * MINUTE_MS

/** The maximum time by which a receiver can postpone an attempt with `Retry-After`. */
const MAX_REST_MS = HOUR_MS

/**
 * @param retryAfterMs The pause that the receiver asks for.
 * @returns When to try again after this many failed attempts, in milliseconds of the Unix epoch.
 */
export function nextTryAt(attempts: number, now: number, retryAfterMs = 0): number {
  const delay = RETRY_DELAYS_MS[attempts - 1] ?? LAST_DELAY_MS
  const spread = Math.round(delay * (1 + JITTER * Math.random()))
  return now + Math.max(spread, restAfter(retryAfterMs))
}

/** @returns How long to pause for a receiver that asks for this, in milliseconds. */
export function restAfter(retryAfterMs: number): number {
  return Math.min(retryAfterMs, MAX_REST_MS)
}

/** After this many failures in a row, of any documents, a receiver counts as down. */
export const MAX_FAILURES_IN_A_ROW = 5
const FIRST_PAUSE_MS = 5 * SECOND_MS
const MAX_PAUSE_MS = 5 * MINUTE_MS

/** @returns Milliseconds until a receiver that is down is tried again, after this many tries. */
export function pauseAfter(tries: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** tries, MAX_PAUSE_MS)
}

/** @returns Whether something has failed for long enough since `failedSince`. */
export type IsLate = (failedSince: number | null) => boolean

/** A clock may be wrong, so only a time that is certain ends a delivery or a webhook. */
export async function findLate(
  { webhook, retries }: Turn,
  { clock, certainTime }: { clock: Pick<Clock, 'now'>; certainTime: CertainTime },
): Promise<IsLate> {
  const lateAt =
    (time: number): IsLate =>
    (since) =>
      since !== null && time - since >= RETRY_PERIOD_MS
  const isLate = lateAt(clock.now())
  const all = [webhook.failingSince, ...retries.map(({ failedSince }) => failedSince)]
  if (!all.some(isLate)) return isLate
  const time = await certainTime().catch(() => undefined)
  return time === undefined ? () => false : lateAt(time)
}
