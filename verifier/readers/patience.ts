import { ChainError, HttpStatusError, RpcResponseError } from '../errors.ts'
import { abortable } from '../signal.ts'
import type { Request } from './request.ts'

/** After this many consecutive refusals a request fails. */
const MAX_WAITS = 8
/** The first pause, which is doubled each time. */
const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 30_000

const TOO_MANY_REQUESTS = 429
const UNAVAILABLE = 503
/** Texts with which public providers refuse too frequent requests; some send them with HTTP 200. */
const BUSY =
  /rate.?limit|too many requests|capacity exceeded|compute units per second|requests? per second|request limit|throttl/i

/**
 * @param sleep Waits some milliseconds; tests replace it.
 * @returns Requests that are sent again after a pause while the node asks for fewer of them.
 */
export function patientRequest(request: Request, sleep = pause): Request {
  return async (method, params, signal) => {
    for (let waits = 0; ; waits++) {
      try {
        return await request(method, params, signal)
      } catch (error) {
        const asked = askedPause(error)
        if (asked === undefined || waits === MAX_WAITS) throw error
        const wait = Math.min(Math.max(FIRST_WAIT_MS * 2 ** waits, asked), MAX_WAIT_MS)
        await abortable(() => sleep(wait), signal)
      }
    }
  }
}

/**
 * @returns The milliseconds for which the node asks to wait, 0 if it names none; `undefined` for an
 * error that asks for no pause.
 */
export function askedPause(error: unknown): number | undefined {
  const cause = error instanceof ChainError ? error.cause : error
  if (cause instanceof RpcResponseError) return BUSY.test(cause.message) ? 0 : undefined
  if (!(cause instanceof HttpStatusError)) return undefined
  const isBusy = cause.status === TOO_MANY_REQUESTS || cause.status === UNAVAILABLE
  return isBusy ? (cause.retryAfter ?? 0) : undefined
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
