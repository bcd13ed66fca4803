import { HttpStatusError, RpcResponseError } from '#verifier/errors.ts'
import { askedPause } from '#verifier/readers/patience.ts'

/** The time between two requests after a refusal: first, at most, and when it counts as none. */
const SPACING_MS = { first: 50, max: 2_000, none: 5 }
/** The first refusal after an answer multiplies it by the one, each answer by the other. */
const FACTORS = { refused: 2, answered: 0.94 }
/**
 * The pause after a refusal, which doubles until there is an answer. An endpoint is asked again
 * after the longest one, even if it asks for a longer pause.
 */
const PAUSE_MS = { first: 50, max: 60_000 }

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

type Waiting = { until: number; go: () => void; fail: (error: unknown) => void }

export function createPace(): Pace {
  let spacing = 0
  let nextAt = 0
  let refusedAt = Number.NEGATIVE_INFINITY
  /** The refusals since the last answer. */
  let refusals = 0
  let waiting: Waiting[] = []
  let timer: NodeJS.Timeout | undefined

  const next = () => nextAt + spacing * waiting.length

  async function turn(until: number, signal?: AbortSignal): Promise<void> {
    const now = performance.now()
    if (Math.max(now, next()) > until) throw tooSoon(next() - now)
    if (waiting.length === 0 && now >= nextAt) {
      nextAt = now + spacing
      return
    }
    await new Promise<void>((go, fail) => {
      const one = { until, go, fail }
      waiting.push(one)
      signal?.addEventListener('abort', () => {
        waiting = waiting.filter((other) => other !== one)
        fail(signal.reason)
      })
      schedule()
    })
  }

  function schedule(): void {
    clearTimeout(timer)
    if (waiting.length > 0) timer = setTimeout(release, Math.max(1, nextAt - performance.now()))
  }

  function release(): void {
    const now = performance.now()
    while (now >= nextAt && waiting.length > 0) {
      nextAt = now + spacing
      waiting.shift()?.go()
    }
    schedule()
  }

  function refused(sentAt: number, pause: number): void {
    const now = performance.now()
    // Requests that were under way together are refused together, which says no more than one.
    if (sentAt >= refusedAt) {
      if (refusals === 0)
        spacing = Math.min(Math.max(spacing * FACTORS.refused, SPACING_MS.first), SPACING_MS.max)
      refusals++
      refusedAt = now
    }
    const wait = Math.max(pause, PAUSE_MS.first * 2 ** (refusals - 1), spacing)
    nextAt = Math.max(nextAt, now + Math.min(wait, PAUSE_MS.max))
    for (const { until, fail } of waiting) if (until < nextAt) fail(tooSoon(nextAt - now))
    waiting = waiting.filter(({ until }) => until >= nextAt)
    schedule()
  }

  return {
    next,
    async run(send, until, signal) {
      await turn(until, signal)
      const sentAt = performance.now()
      try {
        const answer = await send()
        refusals = 0
        spacing = spacing <= SPACING_MS.none ? 0 : spacing * FACTORS.answered
        return answer
      } catch (error) {
        const pause = pauseAfter(error)
        if (pause === undefined) throw error
        refused(sentAt, pause)
        throw tooSoon(pause)
      }
    },
  }
}

const tooSoon = (wait: number) => new HttpStatusError(429, wait)

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
