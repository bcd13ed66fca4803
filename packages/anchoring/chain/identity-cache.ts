import { FormatError } from '#document/errors.ts'
import { type IdentityAddress, readDidDocument } from '#verifier/identity.ts'
import type { IdentityRead, IdentitySource } from '#verifier/ports.ts'

/** How long an answer is reused. */
export const ANSWER_TTL_MS = 3_600_000
/** How long a failure is reused. */
export const FAILURE_TTL_MS = 60_000
/** The maximum number of cached domains. If there are more, the oldest is dropped. */
const MAX_ENTRIES = 1_000
/** The maximum number of requests at the same time. If there are more, no domain is asked. */
const MAX_PENDING = 8

export type IdentityCache = IdentitySource & {
  /** Asks again even when an answer is cached. Rejects as the source does. */
  refresh(address: IdentityAddress): Promise<IdentityRead>
  /** Aborts the current requests. */
  stop(): void
}

type Entry = { read: IdentityRead | Error; until: number }

/**
 * Caches the answers of domains. It never waits: an answer is `not_asked` until it is known.
 *
 * @param now Milliseconds of a monotonic clock.
 */
export function createIdentityCache(
  source: IdentitySource,
  now: () => number = () => performance.now(),
): IdentityCache {
  const entries = new Map<string, Entry>()
  const pending = new Map<string, Promise<IdentityRead>>()
  const stopped = new AbortController()

  function remember(url: string, read: IdentityRead | Error): void {
    const ttl = read instanceof Error ? FAILURE_TTL_MS : ANSWER_TTL_MS
    entries.delete(url)
    entries.set(url, { read, until: now() + ttl })
    const [oldest] = entries.keys()
    if (entries.size > MAX_ENTRIES && oldest !== undefined) entries.delete(oldest)
  }

  async function ask(address: IdentityAddress): Promise<IdentityRead> {
    try {
      const read = withStatement(await source.read(address, { signal: stopped.signal }), address)
      remember(address.url, read)
      return read
    } catch (error) {
      remember(address.url, new Error('the domain cannot be reached', { cause: error }))
      throw error
    } finally {
      pending.delete(address.url)
    }
  }

  function refresh(address: IdentityAddress): Promise<IdentityRead> {
    const asked = pending.get(address.url) ?? ask(address)
    pending.set(address.url, asked)
    return asked
  }

  return {
    async read(address) {
      const entry = entries.get(address.url)
      if (entry && now() < entry.until) {
        if (entry.read instanceof Error) throw entry.read
        return entry.read
      }
      if (pending.size < MAX_PENDING || pending.has(address.url)) refresh(address).catch(() => {})
      return { status: 'not_asked' }
    },
    refresh,
    stop: () => stopped.abort(new Error('the gateway is stopping')),
  }
}

/** Parses the document once instead of for each verdict. A malformed one is left unparsed. */
function withStatement(read: IdentityRead, { did }: IdentityAddress): IdentityRead {
  if (read.status !== 'found') return read
  try {
    return { ...read, statement: readDidDocument(read.bytes, did) }
  } catch (error) {
    if (error instanceof FormatError) return read
    throw error
  }
}
