import { ChainError, HttpStatusError, RpcResponseError } from '../errors.ts'
import type { BlockSource } from '../ports.ts'
import { abortable } from '../signal.ts'
import type { Request } from './request.ts'

/** After this many consecutive pauses a refused request fails. */
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
  const patiently = createPatience(sleep)
  return (method, params, signal) => patiently(() => request(method, params, signal), signal)
}

/**
 * @param sleep Waits some milliseconds; tests replace it.
 * @returns A source that is asked again after a pause while it asks for fewer requests. It is for
 * work on many blocks: for one block, the next source may answer sooner.
 */
export function patientSource(source: BlockSource, sleep = pause): BlockSource {
  const patiently = createPatience(sleep)
  return { get: (hash, options) => patiently(() => source.get(hash, options), options?.signal) }
}

/**
 * Repeats work that one server refuses for now. All work pauses together, because servers count the
 * requests of an address. A server that never answers is waited for once, not for each request.
 */
function createPatience(sleep: (ms: number) => Promise<void>) {
  /** The pauses since the last answer. */
  let waits = 0
  /** The pause under way. */
  let pausing: Promise<void> | undefined
  return async <T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    for (;;) {
      await abortable(async () => pausing, signal)
      try {
        const answer = await work()
        waits = 0
        return answer
      } catch (error) {
        const asked = askedPause(error)
        if (asked === undefined || (waits === MAX_WAITS && !pausing)) throw error
        const wait = Math.min(Math.max(FIRST_WAIT_MS * 2 ** waits, asked), MAX_WAIT_MS)
        if (!pausing) waits++
        pausing ??= sleep(wait).finally(() => {
          pausing = undefined
        })
      }
    }
  }
}

/**
 * @returns The milliseconds for which the server asks to wait, 0 if it names none; `undefined` for an
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
