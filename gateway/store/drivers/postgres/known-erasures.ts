import { setTimeout as sleep } from 'node:timers/promises'
import { groupCalls } from '#base/grouping.ts'
import type { Log } from '#base/log.ts'
import { RecentMap } from '#base/recent-map.ts'
import { type Hex, toHex } from '#document/hex.ts'
import { hexOf } from '../../columns.ts'
import type { IsBlockErased } from '../../tombstones.ts'
import type { Postgres } from './database.ts'

/** Triggers in the schema notify it; the payload is the documentHash. */
export const ERASURE_CHANNEL = 'docreg_erasure'

/** Erasures in one read. */
const MAX_GROUP = 200
/** Erasures that are remembered after they were finished. */
const MAX_REMEMBERED = 100_000
/** A notification may be lost. */
const POLL_INTERVAL_MS = 1_000

type KnownErasures = {
  /**
   * Whether a block was erased, by any gateway. While the database is away it is known of those
   * that are not finished, and of those seen lately; of the others it rejects.
   */
  isErased: IsBlockErased
  close(): Promise<void>
}

/**
 * Remembers erasures for a time without the database. A finished erasure has left no bytes in any
 * store; but of one that is not finished, Kubo may still have the block.
 *
 * @throws {IssueError} `store_unavailable`.
 */
export async function openKnownErasures(
  { query, listen, brief, note }: Postgres,
  log: Log,
): Promise<KnownErasures> {
  const stopping = new AbortController()
  const { signal } = stopping
  const recent = new RecentMap<true>(MAX_REMEMBERED)
  let unfinished: ReadonlySet<Hex> = new Set()

  const ask = groupCalls<Uint8Array, boolean>({
    maxItems: MAX_GROUP,
    async run(hashes) {
      const rows = await brief(() =>
        query('SELECT hash FROM tombstone WHERE hash = ANY($1)', [hashes]),
      )
      const found = new Set(rows.map(({ hash }) => hexOf(hash)))
      for (const hash of found) recent.add(hash, true)
      return hashes.map((hash) => found.has(toHex(hash)))
    },
  })

  async function poll(): Promise<void> {
    const rows = await note(query('SELECT hash FROM erasure WHERE erased_at IS NULL'))
    for (const hash of unfinished) recent.add(hash, true)
    unfinished = new Set(rows.map(({ hash }) => hexOf(hash)))
  }

  async function pollUntilClosed(): Promise<void> {
    while (await sleep(POLL_INTERVAL_MS, true, { signal, ref: false }).catch(() => false))
      await poll().catch((error) => log.debug('erasures_unread', { error: String(error) }))
  }

  // Listens before the first read, so that no erasure falls between the two.
  const end = listen(ERASURE_CHANNEL, (hash) => {
    if (hash !== undefined) recent.add(hash, true)
  })
  try {
    await poll()
  } catch (error) {
    end()
    throw error
  }
  const polling = pollUntilClosed()

  return {
    async isErased(hash) {
      try {
        return await ask(hash)
      } catch (error) {
        const known = toHex(hash)
        if (unfinished.has(known) || recent.get(known)) return true
        throw error
      }
    },
    async close() {
      end()
      stopping.abort()
      await polling
    },
  }
}
