import { clock } from '#base/clock.ts'
import { groupCalls } from '#base/grouping.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import type { IdempotencyLog } from '#promise/ports.ts'
import { hexOf } from '../columns.ts'
import type { Postgres } from '../drivers/postgres/database.ts'
import { DELETED_PER_CLAIM, periodOf } from '../rules.ts'

const MAX_GROUP = 200
/** The idempotency log in PostgreSQL: of concurrent claims of a key, one is the first. */
export function createPostgresIdempotencyLog({ query }: Postgres): IdempotencyLog {
  async function claim(claims: readonly Claim[]): Promise<Hex[]> {
    const period = periodOf(clock.now())
    const rows = await query(
      `INSERT INTO idempotency (key, period, document_hash)
       SELECT key, $3, hash FROM unnest($1::bytea[], $2::bytea[]) AS item (key, hash)
       ON CONFLICT (key) DO UPDATE SET
         period = CASE WHEN idempotency.period < $4
           THEN excluded.period ELSE idempotency.period END,
         document_hash = CASE WHEN idempotency.period < $4
           THEN excluded.document_hash ELSE idempotency.document_hash END
       RETURNING key, document_hash`,
      [
        claims.map(({ key }) => key),
        claims.map(({ documentHash }) => fromHex(documentHash)),
        ...[period, period - 1],
      ],
    )
    await query(
      `DELETE FROM idempotency WHERE key IN (
         SELECT key FROM idempotency WHERE period < $1 ORDER BY period LIMIT $2
         FOR UPDATE SKIP LOCKED)`,
      [period - 1, DELETED_PER_CLAIM * claims.length],
    )
    const first = new Map(rows.map((row) => [hexOf(row.key), hexOf(row.document_hash)]))
    return claims.map(({ key, documentHash }) => first.get(toHex(key)) ?? documentHash)
  }
  const together = groupCalls<Claim, Hex>({
    maxItems: MAX_GROUP,
    run: claim,
    idOf: ({ key }) => toHex(key),
  })

  return {
    claim: (key, documentHash) => together({ key, documentHash }),
    async has(key) {
      const found = await query('SELECT 1 FROM idempotency WHERE key = $1 AND period >= $2', [
        ...[key, periodOf(clock.now()) - 1],
      ])
      return found.length > 0
    },
  }
}

type Claim = { key: Uint8Array; documentHash: Hex }
