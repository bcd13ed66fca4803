import { clock } from '#base/clock.ts'
import { repeat } from '#base/concurrency.ts'
import type { Log } from '#base/log.ts'
import type { WorkerDeps } from './worker.ts'

/** How long rows and results are kept after the end of a run. */
const KEPT_MS = 86_400_000
const CLEAN_INTERVAL_MS = 10_000

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
  async function clean(): Promise<void> {
    const runs = await store.removeBefore(clock.now() - KEPT_MS)
    if (runs > 0) log.info('runs_removed', { runs })
    for (const owner of await store.owners())
      if ((await grantOf(owner)) === undefined) await store.removeOf(owner)
  }

  return repeat(CLEAN_INTERVAL_MS, clean, (error) =>
    log.debug('runs_not_cleaned', { error: String(error) }),
  )
}
