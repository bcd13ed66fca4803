import { fromHex, type Hex, toHex } from '#document/hex.ts'
import type { PayloadStore } from '#promise/ports.ts'
import type { BlockRead } from '#verifier/ports.ts'
import type { Database } from './database.ts'
import { pinLater } from './mirror.ts'
import { all, each, hexOf, statement, type Work } from './sql.ts'
import { insertItems } from './tables.ts'
import type { IsBlockErased } from './tombstones.ts'

/** The number of payloads in one read, of some kilobytes each. */
const MAX_READ = 50
/** Longer than the server may take, because the payloads have no other source here. */
const READ_TIMEOUT_MS = 15_000

const SELECT = statement(
  (sql) => `SELECT hash, bytes FROM payload WHERE ${sql.isIn('hash', 'hashes', 'bytes')}`,
)
// An existing row is locked (`WHERE false` changes nothing) until the transaction ends.
const INSERT = statement(
  (sql) => `
    ${insertItems(sql, 'payload', 'hash, bytes')}
    WHERE NOT EXISTS (SELECT 1 FROM tombstone WHERE tombstone.hash = item.hash)
    ON CONFLICT (hash) DO UPDATE SET hash = excluded.hash WHERE false
    ${sql.added('hash')}`,
)
const DELETE = statement(
  (sql) => `DELETE FROM payload WHERE ${sql.isIn('hash', 'hashes', 'bytes')}`,
)

/** Payloads in the database. It does not store erased payloads again. */
export function createPayloadStore(database: Database): PayloadStore {
  const get = database.together<Uint8Array, BlockRead>({
    *work(hashes) {
      const rows = yield* all(SELECT, { hashes })
      const found = new Map(rows.map(({ hash, bytes }) => [hexOf(hash), bytes as Uint8Array]))
      return hashes.map((hash) => {
        const bytes = found.get(toHex(hash))
        return bytes ? { status: 'found', bytes } : { status: 'missing' }
      })
    },
    maxItems: MAX_READ,
    reads: 'brief',
    timeoutMs: READ_TIMEOUT_MS,
  })
  return {
    get,
    async put(hash, bytes) {
      await database.write(function* () {
        // No send may come for it.
        const inserted = yield* insertPayloads([{ hash, bytes }])
        yield* pinLater([...inserted].map(fromHex))
      })
    },
  }
}

/** Stores payloads, except erased ones. @returns The hashes of the new ones. */
export function* insertPayloads(
  payloads: readonly { hash: Uint8Array; bytes: Uint8Array }[],
): Work<Set<Hex>> {
  return new Set((yield* each(INSERT, payloads)).map(({ hash }) => hexOf(hash)))
}

export function* deletePayloads(hashes: readonly Uint8Array[]): Work<void> {
  yield* all(DELETE, { hashes })
}

const SELECT_ERASED = statement(
  (sql) => `SELECT hash FROM tombstone WHERE ${sql.isIn('hash', 'hashes', 'bytes')}`,
)

/** @returns The blocks that were erased. */
export function* erasedOf(hashes: readonly Uint8Array[]): Work<Set<Hex>> {
  return new Set((yield* all(SELECT_ERASED, { hashes })).map(({ hash }) => hexOf(hash)))
}

/**
 * @returns A function that tells whether a block was erased, from the current state of the
 * database.
 */
export function createIsErased(database: Database): IsBlockErased {
  return database.together<Uint8Array, boolean>({
    *work(hashes) {
      const erased = yield* erasedOf(hashes)
      return hashes.map((hash) => erased.has(toHex(hash)))
    },
    reads: true,
  })
}
