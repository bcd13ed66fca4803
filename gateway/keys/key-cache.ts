import type { FindKey } from './grant.ts'
import type { ApiKey, KeyReader, KeyWriter } from './ports.ts'
import { digestOf } from './secret.ts'

/** How long a change by another process may go unnoticed. */
const MAX_AGE_MS = 1_000
/** An outage is reported at most this often. */
const REPORT_INTERVAL_MS = 60_000
/** How often the last use of one key is written at most. */
const USE_INTERVAL_MS = 60_000
/** How long uses are gathered, so that many keys are written together. */
const GATHER_MS = 1_000

type KeyCache = {
  find: FindKey
  /** Reads the keys again if they have changed. Never rejects. */
  poll(): Promise<void>
}

/**
 * Caches the keys in memory, so that a request with a known key waits for no disk. Once a second, a
 * request asks the store whether a key has changed.
 *
 * @param used Called with the id of each key that was found.
 * @param unreadable Called at most once a minute when the store cannot be read. The keys that were
 * read last stay valid, because an outage of the store must not lock everybody out.
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
    // The version is read before the keys, so that the next poll notices a change between the two.
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
 * @returns A function that runs `work` once for all callers that wait for it. A caller never gets a
 * run that started before its call.
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
  /** Does work at most once a minute for each key. */
  note(key: ApiKey): void
  /** Writes the gathered uses. */
  stop(): Promise<void>
}

/**
 * Writes when keys were last used. This is lazy: no request waits for it, and a crash may lose it.
 *
 * @param failed Called when the uses could not be written.
 */
export function createLastUses(
  store: Pick<KeyWriter, 'markUsed'>,
  failed: (error: unknown) => void,
): LastUses {
  /** When the use of each key was last recorded, by id and in milliseconds of the Unix epoch. */
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
