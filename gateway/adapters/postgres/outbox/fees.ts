import type { FeeLog } from '../../../issue/ports.ts'
import { WEI_OF_GWEI } from '../../../wei.ts'
import type { Postgres } from '../database.ts'
import type { Query } from '../query.ts'

const MAX_AGE_MINUTES = 24 * 60

const minuteOf = (time: number) => Math.floor(time / 60_000)

/** Adds a fee, in wei, to those of this minute. For use in a transaction. */
export async function addFee(query: Query, fee: bigint): Promise<void> {
  if (fee === 0n) return
  const minute = minuteOf(Date.now())
  await query('DELETE FROM fee WHERE minute < $1', [minute - MAX_AGE_MINUTES])
  await query(
    `INSERT INTO fee (minute, gwei) VALUES ($1, $2)
     ON CONFLICT (minute) DO UPDATE SET gwei = fee.gwei + excluded.gwei`,
    [minute, (fee + WEI_OF_GWEI - 1n) / WEI_OF_GWEI],
  )
}

export function createFeeLog({ query }: Postgres): FeeLog {
  return {
    async feesSince(time) {
      const [row] = await query('SELECT sum(gwei)::text AS gwei FROM fee WHERE minute >= $1', [
        minuteOf(time),
      ])
      return BigInt((row?.gwei as string | null) ?? 0) * WEI_OF_GWEI
    },
  }
}
