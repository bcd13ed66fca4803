import { toHex } from '../../../document/hex.ts'
import type { BlockRead } from '../../../verifier/ports.ts'
import type { PayloadStore } from '../../issue/ports.ts'
import type { IsBlockErased } from '../tombstones.ts'
import { hexOf } from './columns.ts'
import type { Postgres } from './database.ts'
import { createGroups } from './groups.ts'

/** Payloads in one read, some kilobytes each. */
const MAX_READ = 50
const MAX_GROUP = 200

/** Payloads in PostgreSQL. It does not store an erased one again. */
export function createPostgresStore({ query }: Postgres): PayloadStore {
  const get = createGroups<Uint8Array, BlockRead>({
    maxItems: MAX_READ,
    async run(hashes) {
      const rows = await query('SELECT hash, bytes FROM block WHERE hash = ANY($1)', [hashes])
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

/** @returns Whether a block was erased, by any gateway. */
export function createPostgresIsErased({ query }: Postgres): IsBlockErased {
  return createGroups<Uint8Array, boolean>({
    maxItems: MAX_GROUP,
    async run(hashes) {
      const rows = await query('SELECT hash FROM tombstone WHERE hash = ANY($1)', [hashes])
      const found = new Set(rows.map(({ hash }) => hexOf(hash)))
      return hashes.map((hash) => found.has(toHex(hash)))
    },
  })
}
