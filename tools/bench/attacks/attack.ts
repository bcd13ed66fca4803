import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'

/** A gateway under attack, and the API key of one tenant. */
export type Target = { url: string; key: string }

/** What one client does to the service, to see what others notice. */
export type Attack = {
  name: string
  /** Settings of the gateway that it needs. */
  env?: Record<string, string>
  /** Attacks until the returned function is called. */
  start(target: Target): Promise<() => Promise<void>>
  /** Another tenant's work of the same kind, whose time is measured; absent = none. */
  other?: (target: Target) => Promise<void>
}

/** An attack ends after this even if nobody stops it. */
const MAX_SECONDS = 120

type Options = {
  /** Requests at a time; each sends the next one when it has its answer. */
  atOnce: number
  /** At most so many a second, in all; absent = as many as are answered. */
  perSecond?: number
}

/** Sends requests over and over. @param send The number says which request it is. */
export function flood(
  { atOnce, perSecond }: Options,
  send: (number: number) => Promise<unknown>,
): () => Promise<void> {
  const began = performance.now()
  const over = new AbortController()
  let number = 0
  async function loop(): Promise<void> {
    while (!over.signal.aborted && performance.now() - began < MAX_SECONDS * 1000) {
      const mine = number++
      const early = perSecond ? began + (mine * 1000) / perSecond - performance.now() : 0
      if (early > 0) await sleep(early, undefined, over)
      // The service may close the connection.
      await send(mine).catch(() => sleep(10))
    }
  }
  const loops = Array.from({ length: atOnce }, loop)
  const ended = Promise.allSettled(loops)
  return async () => {
    over.abort()
    await ended
  }
}

/** Requests of one client. Answers are read and thrown away. */
export function client(url: string) {
  const dispatcher = new Agent({ headersTimeout: 60_000, bodyTimeout: 60_000 })
  return async (path: string, options: Parameters<typeof request>[1] = {}): Promise<number> => {
    const { statusCode, body } = await request(`${url}${path}`, { dispatcher, ...options })
    await body.dump()
    return statusCode
  }
}
