import type { ApiKey, KeyWriter } from './ports.ts'

/** How often the last use of one key is written, at most; milliseconds. */
const INTERVAL_MS = 60_000
/** How long uses gather, so that many keys are written together; milliseconds. */
const GATHER_MS = 1_000

export type LastUses = {
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
      if (now - (noted.get(key.id) ?? lastUse(key)) < INTERVAL_MS) return
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
