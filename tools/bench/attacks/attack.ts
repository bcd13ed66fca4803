import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import type { Target as OneTarget } from '../requests.ts'

/** A gateway under attack, and the API keys of one tenant, of which most attacks use the first. */
export type Target = OneTarget & { keys: readonly string[] }

/** The actions of one client, which show what the others notice of them. */
export type Attack = {
  /** The settings of the gateway that it needs. */
  env?: Record<string, string>
  /** Attacks until the returned function is called. @param send Requests of one client. */
  start(target: Target, send: Send): Promise<() => Promise<void>>
  /** Work of the same kind by another tenant, whose time is measured; absent = none. */
  other?: (target: Target) => Promise<void>
}

/** An attack ends after this time even if nobody stops it. */
const MAX_SECONDS = 120

type Options = {
  /** The number of concurrent requests. Each sends the next one when it has its answer. */
  atOnce: number
  /** The maximum number of requests per second in total; absent = as many as are answered. */
  perSecond?: number
}

/** Sends requests repeatedly. @param send Receives the number of the request. */
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

export type Send = ReturnType<typeof client>

/** Makes requests of one client, and discards the answers. */
export function client(url: string) {
  const dispatcher = new Agent({ headersTimeout: 60_000, bodyTimeout: 60_000 })
  return async (path: string, options: Parameters<typeof request>[1] = {}): Promise<number> => {
    const { statusCode, body } = await request(`${url}${path}`, { dispatcher, ...options })
    await body.dump()
    return statusCode
  }
}
