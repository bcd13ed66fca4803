import { groupCalls } from '#base/grouping.ts'
import { toHex } from '#document/hex.ts'
import type { PayloadStore } from '#promise/ports.ts'
import type { BlockRead } from '#verifier/ports.ts'
import { hexOf } from '../columns.ts'
import type { Postgres } from '../drivers/postgres/database.ts'
import type { Query } from '../drivers/postgres/query.ts'
import type { IsBlockErased } from '../tombstones.ts'

/** Payloads in one read, some kilobytes each. */
const MAX_READ = 50
/** Longer than the server takes: the payloads have no other source here. */
const READ_TIMEOUT_MS = 15_000
/** Hashes in one read. */
const MAX_GROUP = 200

/** Payloads in PostgreSQL. It does not store an erased one again. */
export function createPostgresStore({
  query,
  brief,
}: Pick<Postgres, 'query' | 'brief'>): PayloadStore {
  const get = groupCalls<Uint8Array, BlockRead>({
    maxItems: MAX_READ,
    async run(hashes) {
      const rows = await brief(
        () => query('SELECT hash, bytes FROM block WHERE hash = ANY($1)', [hashes]),
        READ_TIMEOUT_MS,
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

/** @returns Whether a block was erased, as the database has it now. */
export function createPostgresIsErased({ query }: Pick<Postgres, 'query'>): IsBlockErased {
  return groupCalls<Uint8Array, boolean>({
    maxItems: MAX_GROUP,
    async run(hashes) {
      const rows = await query('SELECT hash FROM tombstone WHERE hash = ANY($1)', [hashes])
      const found = new Set(rows.map(({ hash }) => hexOf(hash)))
      return hashes.map((hash) => found.has(toHex(hash)))
    },
  })
}

/** Stores blocks, except erased ones. @returns The hashes of those that it did not have. */
export async function insertBlocks(
  query: Query,
  blocks: readonly { hash: Uint8Array; bytes: Uint8Array }[],
): Promise<Uint8Array[]> {
  const inserted = await query(
    `INSERT INTO block (hash, bytes)
     SELECT hash, bytes FROM unnest($1::bytea[], $2::bytea[]) AS item (hash, bytes)
     WHERE NOT EXISTS (SELECT 1 FROM tombstone WHERE tombstone.hash = item.hash)
     ON CONFLICT DO NOTHING RETURNING hash`,
    [blocks.map(({ hash }) => hash), blocks.map(({ bytes }) => bytes)],
  )
  return inserted.map(({ hash }) => hash as Uint8Array)
}
