import type { FindKey } from './grant.ts'
import type { ApiKey, KeyReader } from './ports.ts'
import { digestOf } from './secret.ts'

/** How long a change by another process may stay unseen; milliseconds. */
const MAX_AGE_MS = 1_000
/** Between two reports of an outage. */
const REPORT_INTERVAL_MS = 60_000

export type KeyCache = {
  find: FindKey
  /** Reads the keys again if they have changed. Never rejects. */
  refresh(): Promise<void>
}

/**
 * The keys in memory, so that a request with a known key waits for no disk. One request a second
 * asks the store whether a key has changed.
 *
 * @param used Called with the id of each key that was found.
 * @param unreadable Called when the store cannot be read, once a minute at most. The keys read last
 * stay valid: an outage of the store must not lock everybody out.
 */
export function createKeyCache(
  store: KeyReader,
  used: (key: ApiKey) => void,
  unreadable: (error: unknown) => void,
): KeyCache {
  let byDigest = new Map<string, ApiKey>()
  let version = Number.NaN
  let lookedAt = Number.NEGATIVE_INFINITY
  let reportedAt = Number.NEGATIVE_INFINITY
  const load = coalesce(async () => {
    lookedAt = performance.now()
    // Before the keys: a change between the two is seen at the next look.
    const current = await store.version()
    if (current === version) return
    byDigest = new Map((await store.list()).map((key) => [key.digest, key]))
    version = current
  })

  /** All requests of a second wait for the same look. */
  function report(error: unknown): void {
    if (performance.now() - reportedAt < REPORT_INTERVAL_MS) return
    reportedAt = performance.now()
    unreadable(error)
  }

  return {
    async find(secret) {
      const digest = digestOf(secret)
      const isStale = performance.now() - lookedAt > MAX_AGE_MS
      if (isStale && byDigest.has(digest)) await load().catch(report)
      // An unknown key may be new.
      if (!byDigest.has(digest)) await load()
      const found = byDigest.get(digest)
      if (found === undefined || isExpired(found)) return undefined
      used(found)
      return found
    },
    refresh: () => load().catch(report),
  }
}

function isExpired({ expiresAt }: ApiKey): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= Date.now()
}

/**
 * @returns A function that runs `work` once for all callers who wait for it. A caller never gets a
 * run that began before its call.
 */
function coalesce(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  function run(): Promise<void> {
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
