import { toHex } from '../../../document/hex.ts'
import type { BlockRead } from '../../../verifier/ports.ts'
import type { PayloadStore } from '../../issue/ports.ts'
import { hexOf } from './columns.ts'
import type { Postgres } from './database.ts'
import { createGroups } from './groups.ts'

/** Payloads in one read, some kilobytes each. */
const MAX_READ = 50
/** Longer than the server takes: the payloads have no other source here. */
const READ_LIMIT_MS = 15_000

/** Payloads in PostgreSQL. It does not store an erased one again. */
export function createPostgresStore({
  query,
  brief,
}: Pick<Postgres, 'query' | 'brief'>): PayloadStore {
  const get = createGroups<Uint8Array, BlockRead>({
    maxItems: MAX_READ,
    async run(hashes) {
      const rows = await brief(
        () => query('SELECT hash, bytes FROM block WHERE hash = ANY($1)', [hashes]),
        READ_LIMIT_MS,
      )
      const found = new Map(rows.map(({ hash, bytes }) => [hexOf(hash), bytes as Uint8Array]))
      return hashes.map((hash) => {
        const bytes = found.get(toHex(hash))
        return bytes ? { status: 'found', bytes } : { status: 'missing' }
      })
    },
  })
  return {
    get,
    async put(hash, bytes) {
      const inserted = await query(
        `INSERT INTO block (hash, bytes) SELECT $1, $2
         WHERE NOT EXISTS (SELECT 1 FROM tombstone WHERE hash = $1)
         ON CONFLICT DO NOTHING RETURNING 1`,
        [hash, bytes],
      )
      return inserted.length > 0
    },
    async missing(hashes) {
      const rows = await query('SELECT hash FROM block WHERE hash = ANY($1)', [[...hashes]])
      const found = new Set(rows.map(({ hash }) => hexOf(hash)))
      return hashes.filter((hash) => !found.has(toHex(hash)))
    },
    async remove(hash) {
      await query('DELETE FROM block WHERE hash = $1', [hash])
    },
  }
}
