import { setTimeout as sleep } from 'node:timers/promises'
import { clock } from '#base/clock.ts'
import type { Log } from '#base/log.ts'
import type { WorkerDeps } from './worker.ts'

/** How long rows and results are kept after the end of a run. */
const KEPT_MS = 86_400_000
const CLEAN_INTERVAL_MS = 60_000

/**
 * Removes runs that ended a day ago, and those whose results nobody can read any more. This is a
 * chore, also while the module is off: rows have names.
 *
 * @returns A function that stops it.
 */
export function startCleaning(
  { store, grantOf }: Pick<WorkerDeps, 'store' | 'grantOf'>,
  log: Log,
): () => Promise<void> {
  const stop = new AbortController()
  const { signal } = stop

  async function clean(): Promise<void> {
    const runs = await store.removeBefore(clock.now() - KEPT_MS)
    if (runs > 0) log.info('runs_removed', { runs })
    for (const owner of await store.owners())
      if ((await grantOf(owner)) === undefined) await store.removeOf(owner)
  }

  async function run(): Promise<void> {
    do await clean().catch((error) => log.debug('runs_not_cleaned', { error: String(error) }))
    while (await sleep(CLEAN_INTERVAL_MS, true, { signal }).catch(() => false))
  }

  const running = run()
  return async () => {
    stop.abort()
    await running
  }
}
