import type { FindKey } from './grant.ts'
import { digestOf } from './keys.ts'
import type { ApiKey, KeyReader, KeyWriter } from './ports.ts'

/** How long a change by another process may stay unseen. */
const MAX_AGE_MS = 1_000
/** An outage is reported this often at most. */
const REPORT_INTERVAL_MS = 60_000
/** How often the last use of one key is written, at most. */
const USE_INTERVAL_MS = 60_000
/** How long uses gather, so that many keys are written together. */
const GATHER_MS = 1_000

type KeyCache = {
  find: FindKey
  /** Reads the keys again if they have changed. Never rejects. */
  poll(): Promise<void>
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
  let polledAt = Number.NEGATIVE_INFINITY
  let reportedAt = Number.NEGATIVE_INFINITY
  const load = coalesce(async () => {
    polledAt = performance.now()
    // Before the keys: a change between the two is seen by the next poll.
    const current = await store.version()
    if (current === version) return
    byDigest = new Map((await store.list()).map((key) => [key.digest, key]))
    version = current
  })

  function report(error: unknown): void {
    if (performance.now() - reportedAt < REPORT_INTERVAL_MS) return
    reportedAt = performance.now()
    unreadable(error)
  }

  return {
    async find(secret) {
      const digest = digestOf(secret)
      const isStale = performance.now() - polledAt > MAX_AGE_MS
      if (isStale && byDigest.has(digest)) await load().catch(report)
      // An unknown key may be new.
      if (!byDigest.has(digest)) await load()
      const found = byDigest.get(digest)
      if (found === undefined || isExpired(found)) return undefined
      used(found)
      return found
    },
    poll: () => load().catch(report),
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

type LastUses = {
  /** Costs nothing but once a minute for each key. */
  note(key: ApiKey): void
  /** Writes what has gathered. */
  stop(): Promise<void>
}

/**
 * Writes when keys were last used, lazily: no request waits for it, and a crash may lose it.
 *
 * @param failed Called when it could not be written.
 */
export function createLastUses(
  store: Pick<KeyWriter, 'markUsed'>,
  failed: (error: unknown) => void,
): LastUses {
  /** When each key's use was noted last, by id; milliseconds of the Unix epoch. */
  const noted = new Map<string, number>()
  let gathered = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined

  async function write(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const uses = gathered
    gathered = new Map()
    if (uses.size > 0) await store.markUsed(uses).catch(failed)
  }

  return {
    note(key) {
      const now = Date.now()
      if (now - (noted.get(key.id) ?? lastUse(key)) < USE_INTERVAL_MS) return
      noted.set(key.id, now)
      gathered.set(key.id, new Date(now).toISOString())
      timer ??= setTimeout(write, GATHER_MS).unref()
    },
    stop: write,
  }
}

function lastUse({ lastUsedAt }: ApiKey): number {
  return lastUsedAt === undefined ? Number.NEGATIVE_INFINITY : Date.parse(lastUsedAt)
}
