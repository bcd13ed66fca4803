import { setTimeout as sleep } from 'node:timers/promises'
import { HttpStatusError, RpcResponseError } from '#verifier/errors.ts'
import { askedPause } from '#verifier/readers/patience.ts'

/** The time between two requests after a refusal: first, at most, and when it counts as none. */
const SPACING_MS = { first: 50, max: 2_000, none: 5 }
/** An endpoint is asked again after this time, however long a pause it asks for. */
const MAX_PAUSE_MS = 60_000
/** Each refusal multiplies the time between requests by the one, each answer by the other. */
const FACTORS = { refused: 2, answered: 0.94 }

/**
 * The pace of requests to one endpoint. It has no limit until the endpoint refuses requests because
 * they are too frequent; then they wait for each other, as long as the endpoint asks for it, and
 * become more frequent again with each answer. Times are those of `performance.now()`.
 */
export type Pace = {
  /** @returns When the next request may be sent. */
  next(): number
  /**
   * Sends a request when its turn comes.
   *
   * @param until The latest time at which it may be sent.
   * @throws {HttpStatusError} 429 when its turn would come later, or the endpoint refuses it.
   */
  run<T>(send: () => Promise<T>, until: number, signal?: AbortSignal): Promise<T>
}

export function createPace(): Pace {
  let spacing = 0
  let nextAt = 0
  let refusedAt = Number.NEGATIVE_INFINITY

  async function turn(until: number, signal?: AbortSignal): Promise<void> {
    const now = performance.now()
    const at = Math.max(now, nextAt)
    if (at > until) throw new HttpStatusError(429, at - now)
    nextAt = at + spacing
    if (at > now) await sleep(at - now, undefined, { ...(signal && { signal }) })
  }

  function refused(sentAt: number, pause: number): void {
    const now = performance.now()
    // Requests that were under way together are refused together, which says no more than one.
    if (sentAt >= refusedAt) {
      spacing = Math.min(Math.max(spacing * FACTORS.refused, SPACING_MS.first), SPACING_MS.max)
      refusedAt = now
    }
    nextAt = Math.max(nextAt, now + Math.max(spacing, Math.min(pause, MAX_PAUSE_MS)))
  }

  return {
    next: () => nextAt,
    async run(send, until, signal) {
      await turn(until, signal)
      const sentAt = performance.now()
      try {
        const answer = await send()
        spacing = spacing <= SPACING_MS.none ? 0 : spacing * FACTORS.answered
        return answer
      } catch (error) {
        const pause = pauseAfter(error)
        if (pause === undefined) throw error
        refused(sentAt, pause)
        throw new HttpStatusError(429, pause)
      }
    },
  }
}

/** @returns Whether an endpoint was asked too often, or would be. */
export function isRefusal(error: unknown): boolean {
  return error instanceof HttpStatusError && error.status === 429
}

/** @returns Milliseconds; `undefined` unless the endpoint asks for fewer requests. */
function pauseAfter(error: unknown): number | undefined {
  const isKnown = error instanceof HttpStatusError || error instanceof RpcResponseError
  // A 503 alone is an outage.
  const isOutage = error instanceof HttpStatusError && error.status === 503 && !error.retryAfter
  return isKnown && !isOutage ? askedPause(error) : undefined
}
