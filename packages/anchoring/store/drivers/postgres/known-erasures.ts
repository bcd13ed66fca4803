import { repeat } from '#base/concurrency.ts'
import type { Log } from '#base/log.ts'
import { RecentMap } from '#base/recent-map.ts'
import { type Hex, toHex } from '#document/hex.ts'
import { ERASURE_CHANNEL } from '../../erasures.ts'
import { erasedOf } from '../../payloads.ts'
import { hexOf } from '../../sql.ts'
import type { Postgres } from './database.ts'

/** Erasures that are remembered after they were finished. */
const MAX_REMEMBERED = 100_000
/** A notification may be lost. */
const POLL_INTERVAL_MS = 1_000

/**
 * Remembers erasures for a time without the database. A finished erasure has left no bytes in any
 * store; but of one that is not finished, Kubo may still have the block.
 *
 * @throws {IssueError} `store_unavailable`.
 */
export async function openKnownErasures(database: Postgres, log: Log) {
  const { query, listen, note } = database
  const recent = new RecentMap<true>(MAX_REMEMBERED)
  let unfinished: ReadonlySet<Hex> = new Set()

  const ask = database.together<Uint8Array, boolean>({
    *work(hashes) {
      const found = yield* erasedOf(hashes)
      for (const hash of found) recent.add(hash, true)
      return hashes.map((hash) => found.has(toHex(hash)))
    },
    reads: 'brief',
  })

  async function poll(): Promise<void> {
    const rows = await note(query('SELECT hash FROM erasure WHERE erased_at IS NULL'))
    for (const hash of unfinished) recent.add(hash, true)
    unfinished = new Set(rows.map(({ hash }) => hexOf(hash)))
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
  const stop = repeat(POLL_INTERVAL_MS, poll, (error) =>
    log.debug('erasures_unread', { error: String(error) }),
  )

  return {
    /**
     * Whether a block was erased, by any gateway. Of those that are not finished, and of those seen
     * lately, it is known without the database, which may be away, or come back older.
     */
    async isErased(hash: Uint8Array): Promise<boolean> {
      const known = toHex(hash)
      return unfinished.has(known) || recent.get(known) === true || ask(hash)
    },
    async close(): Promise<void> {
      end()
      await stop()
    },
  }
}
