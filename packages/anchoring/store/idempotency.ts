import { clock } from '#base/clock.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import type { IdempotencyLog } from '#promise/ports.ts'
import type { Database } from './database.ts'
import { all, each, hexOf, statement, type Work } from './sql.ts'

/**
 * The number of old idempotency keys that each new key deletes: more than one, so that old keys run
 * out, and few, so that no request waits long.
 */
const DELETED_PER_CLAIM = 2
/** A key is remembered until the end of the period after the one in which it was claimed. */
const IDEMPOTENCY_PERIOD_MS = 7 * 86_400_000

const periodOf = (time: number) => Math.floor(time / IDEMPOTENCY_PERIOD_MS)

type Claim = { key: Uint8Array; documentHash: Hex }

// One of several concurrent claims of a key is the first.
const CLAIM = statement(
  (sql) => `
    INSERT INTO idempotency (key, period, document_hash)
    SELECT item.key, :period, item.hash FROM ${sql.items({ key: 'bytes', hash: 'bytes' })} WHERE true
    ON CONFLICT (key) DO UPDATE SET
      period = CASE WHEN idempotency.period < :oldest
        THEN excluded.period ELSE idempotency.period END,
      document_hash = CASE WHEN idempotency.period < :oldest
        THEN excluded.document_hash ELSE idempotency.document_hash END
    RETURNING key, document_hash`,
)
const DELETE_OLD = statement(
  (sql) => `
    DELETE FROM idempotency WHERE key IN (
      SELECT key FROM idempotency WHERE period < :oldest ORDER BY period LIMIT :limit
      ${sql.skipLocked})`,
)
const HAS = statement('SELECT 1 FROM idempotency WHERE key = :key AND period >= :oldest')

/** The log of idempotency keys. */
export function createIdempotencyLog(database: Database): IdempotencyLog {
  const together = database.together<Claim, Hex>({ work: claim, idOf: ({ key }) => toHex(key) })
  return {
    claim: (key, documentHash) => together({ key, documentHash }),
    async has(key) {
      const oldest = periodOf(clock.now()) - 1
      return (await database.read(HAS, { key, oldest })).length > 0
    },
  }
}

function* claim(claims: readonly Claim[]): Work<Hex[]> {
  const period = periodOf(clock.now())
  const oldest = period - 1
  const rows = yield* each(
    CLAIM,
    claims.map(({ key, documentHash }) => ({ key, hash: fromHex(documentHash) })),
    { period, oldest },
  )
  yield* all(DELETE_OLD, { oldest, limit: DELETED_PER_CLAIM * claims.length })
  const first = new Map(rows.map((row) => [hexOf(row.key), hexOf(row.document_hash)]))
  return claims.map(({ key, documentHash }) => first.get(toHex(key)) ?? documentHash)
}
