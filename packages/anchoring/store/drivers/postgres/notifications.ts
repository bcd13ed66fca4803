import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { ANSWER_TIMEOUT_MS, optionsOf } from './connection.ts'

const RECONNECT_INTERVAL_MS = 1_000
/** A connection that was cut without a word is noticed within this time. */
const CHECK_INTERVAL_MS = 10_000

/**
 * Wake-ups of other gateways. A notification may be lost, and is not to be relied on: what is in
 * the tables decides.
 */
export type Notifications = {
  /**
   * @param channel A name of lower-case letters and underscores.
   * @param heard Called with the payload of each notification, and with `undefined` when some may
   * have been lost. Must not throw.
   * @returns A function that ends it.
   */
  listen(channel: string, heard: (payload: string | undefined) => void): () => void
  /** Resolves when the server listens for all channels. */
  ready(): Promise<void>
  close(): Promise<void>
}

/** Listens on a connection of its own, which is opened again whenever it breaks. */
export function createNotifications(url: string): Notifications {
  const stopping = new AbortController()
  const { signal } = stopping
  const listeners = new Map<string, Set<(payload: string | undefined) => void>>()
  let client: pg.Client | undefined
  let opened = Promise.withResolvers<void>()
  /** The statements on their way: the driver takes one after another. */
  let turn: Promise<unknown> = Promise.resolve()

  function run(text: string): Promise<unknown> {
    const done = turn.then(() => client?.query(text))
    turn = done.catch(() => {})
    return done
  }

  function tell(channel: string, payload: string | undefined): void {
    for (const heard of listeners.get(channel) ?? []) heard(payload)
  }

  /** Resolves when the connection has ended. */
  async function connect(): Promise<void> {
    const next = new pg.Client(optionsOf(url, ANSWER_TIMEOUT_MS))
    const ended = new Promise<void>((resolve) => {
      next.once('end', resolve)
      next.on('error', () => resolve())
    })
    next.on('notification', ({ channel, payload }) => tell(channel, payload))
    try {
      await next.connect()
      for (const channel of listeners.keys()) await next.query(`LISTEN ${channel}`)
      client = next
      opened.resolve()
      for (const channel of listeners.keys()) tell(channel, undefined)
      await Promise.race([ended, checkUntilBroken(next)])
    } finally {
      client = undefined
      opened = Promise.withResolvers()
      next.end().catch(() => {})
    }
  }

  async function checkUntilBroken(current: pg.Client): Promise<void> {
    while (await sleep(CHECK_INTERVAL_MS, true, { signal }).catch(() => false)) {
      if (client !== current) return
      await run('SELECT 1')
    }
  }

  async function stayConnected(): Promise<void> {
    while (!signal.aborted) {
      await connect().catch(() => {})
      await sleep(RECONNECT_INTERVAL_MS, undefined, { signal }).catch(() => {})
    }
  }
  const running = stayConnected()

  return {
    listen(channel, heard) {
      const all = listeners.get(channel) ?? new Set()
      listeners.set(channel, all.add(heard))
      // A failure ends the connection, and the next one listens.
      if (all.size === 1) run(`LISTEN ${channel}`).catch(() => {})
      return () => {
        all.delete(heard)
      }
    },
    async ready() {
      await opened.promise
      await turn
    },
    async close() {
      stopping.abort()
      await running
    },
  }
}
