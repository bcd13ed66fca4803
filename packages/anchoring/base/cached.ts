/** How long a change by another process may go unnoticed. */
const MAX_AGE_MS = 1_000
/** An outage is reported at most this often. */
const REPORT_INTERVAL_MS = 60_000

/**
 * Caches data that requests read often and rarely change, so that they do not wait for the disk. In
 * an outage, the last data stays in use, because an outage must not stop everybody.
 *
 * @param read Reads anew; gets what was read before.
 * @param unreadable Called at most once a minute when it cannot be read.
 */
export function createCached<T>(
  read: (before: T | undefined) => Promise<T>,
  unreadable: (error: unknown) => void,
) {
  let known: T | undefined
  let readAt = Number.NEGATIVE_INFINITY
  let reportedAt = Number.NEGATIVE_INFINITY

  /** Reads it now. */
  const load = coalesce(async () => {
    readAt = performance.now()
    known = await read(known)
    return known
  })

  async function poll(): Promise<void> {
    await load().catch((error) => {
      if (performance.now() - reportedAt < REPORT_INTERVAL_MS) return
      reportedAt = performance.now()
      unreadable(error)
    })
  }

  return {
    load,
    /** Reads it now, and reports an outage. Never rejects. */
    poll,
    /** @returns What was read last; `undefined` = nothing yet. */
    known: () => known,
    /** @returns What was read in the last second, or before an outage. Rejects without either. */
    async fresh(): Promise<T> {
      if (known !== undefined && performance.now() - readAt > MAX_AGE_MS) await poll()
      return known ?? load()
    },
  }
}

/**
 * @returns A function that runs `work` once for all callers that wait for it. A caller never gets a
 * run that started before its call.
 */
function coalesce<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  let next: Promise<T> | undefined

  function run(): Promise<T> {
    if (running === undefined) {
      running = work().finally(() => {
        running = undefined
      })
      return running
    }
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined
        return run()
      })
    return next
  }
  return run
}
