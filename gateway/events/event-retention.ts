import { setTimeout as sleep } from 'node:timers/promises'
import type { CertainTime } from '#base/clock.ts'
import type { Log } from '#base/log.ts'
import type { EventLog } from './events.ts'

const INTERVAL_MS = 60_000
/** Between two slices, so that requests come first. */
const PAUSE_MS = 50

/** How much longer than others events are kept that a webhook has still to be sent. */
const LONGER = 2

/**
 * Deletes events that are older than this, in slices.
 *
 * @param retention Milliseconds.
 * @param interval Between looks; milliseconds.
 * @returns A function that stops it.
 */
export function pruneEvents(
  events: Pick<EventLog, 'prune' | 'leaveBehind'>,
  { retention, certainTime }: { retention: number; certainTime: CertainTime },
  log: Log,
  interval = INTERVAL_MS,
): () => Promise<void> {
  const stop = new AbortController()
  const { signal } = stop

  async function prune(): Promise<void> {
    const now = await certainTime()
    if (now === undefined) return
    for (const webhook of await events.leaveBehind(now - LONGER * retention))
      log.warn('webhook_disabled', { webhook, reason: 'behind' })
    while (!signal.aborted && (await events.prune(now - retention)))
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => {})
  }

  async function run(): Promise<void> {
    while (await sleep(interval, true, { signal }).catch(() => false))
      await prune().catch((error) => log.warn('events_not_pruned', { error: String(error) }))
  }

  const running = run()
  return async () => {
    stop.abort()
    await running
  }
}
