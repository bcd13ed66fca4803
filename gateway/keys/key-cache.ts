import { createCached } from '#base/cached.ts'
import { clock } from '#base/clock.ts'
import type { FindKey, Grant } from './grant.ts'
import type { ApiKey, KeyReader, KeyWriter } from './ports.ts'
import { digestOf } from './secret.ts'

/** How often the last use of one key is written at most. */
const USE_INTERVAL_MS = 60_000
/** How long uses are gathered, so that many keys are written together. */
const GATHER_MS = 1_000

type KeyCache = {
  find: FindKey
  /** @returns The permissions of the key with this id; see {@link FindKey}. */
  get(id: string): Promise<Grant | undefined>
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
  const { known, fresh, load, poll } = createCached<Keys>(async (before) => {
    // The version is read before the keys, so that the next poll notices a change between the two.
    const version = await store.version()
    if (version === before?.version) return before
    const keys = await store.list()
    const byDigest = new Map(keys.map((key) => [key.digest, key]))
    return { version, byDigest, byId: new Map(keys.map((key) => [key.id, key])) }
  }, unreadable)

  return {
    async find(secret) {
      const digest = digestOf(secret)
      let found = known()?.byDigest.get(digest)
      if (found) found = (await fresh()).byDigest.get(digest)
      // An unknown key may be new.
      found ??= (await load()).byDigest.get(digest)
      if (found === undefined || isExpired(found)) return undefined
      used(found)
      return found
    },
    async get(id) {
      // An unknown key may be new.
      const found = (await fresh()).byId.get(id) ?? (await load()).byId.get(id)
      return found && !isExpired(found) ? found : undefined
    },
    poll,
  }
}

type Keys = {
  version: number
  byDigest: ReadonlyMap<string, ApiKey>
  byId: ReadonlyMap<string, ApiKey>
}

function isExpired({ expiresAt }: ApiKey): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= clock.wall()
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
      const now = clock.wall()
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
