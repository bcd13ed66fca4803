/** The rows of a run that wait for the same block: those of two full transactions. */
export const MAX_TOGETHER = 400

/** How fast rows are issued without the chain: low, since the machine may be small or busy. */
const ROWS_A_SECOND = { batch: 4_000, single: 200 } as const
/** For blocks that come faster than every two seconds, or when there is something to include. */
const FAST_BLOCKS_MS = 1_000

/**
 * Rows wait for their block together, and the next ones begin after it. One block more counts for the
 * first transaction, which may just miss one.
 *
 * @param interval The milliseconds between blocks; `undefined` when they are fast or irregular.
 * @returns About how many seconds a run takes while nothing else waits.
 */
export function durationOf(
  mode: 'batch' | 'single',
  size: number,
  interval = FAST_BLOCKS_MS,
): number {
  const together = mode === 'batch' ? size : Math.min(size, MAX_TOGETHER)
  const work = (together / ROWS_A_SECOND[mode]) * 1000
  const blocks = Math.ceil(size / together) * Math.ceil(work / interval) + 1
  return Math.ceil((blocks * interval) / 1000)
}
