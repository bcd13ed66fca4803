import { clock } from '#base/clock.ts'
import { WEI_OF_GWEI } from '#base/wei.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import type { FeeLog } from '#promise/ports.ts'
import type { Postgres } from '../../drivers/postgres/database.ts'
import type { Query } from '../../drivers/postgres/query.ts'
import { gweiOf, MAX_FEE_AGE_MINUTES, minuteOf } from '../../rules.ts'

/** Adds a fee, in wei, to those of this minute. For use in a transaction. */
export async function addFee(query: Query, fee: bigint): Promise<void> {
  if (fee === 0n) return
  const minute = minuteOf(clock.now())
  await query('DELETE FROM fee WHERE minute < $1', [minute - MAX_FEE_AGE_MINUTES])
  await query(
    `INSERT INTO fee (minute, gwei) VALUES ($1, $2)
     ON CONFLICT (minute) DO UPDATE SET gwei = fee.gwei + excluded.gwei`,
    [minute, gweiOf(fee)],
  )
}

/**
 * @param account Whose plans in flight are known to the caller: those of others count here, as if
 * each cost its maximum.
 */
export function createFeeLog({ query }: Postgres, account?: Hex): FeeLog {
  return {
    async feesSince(time) {
      const [row] = await query('SELECT sum(gwei)::text AS gwei FROM fee WHERE minute >= $1', [
        minuteOf(time),
      ])
      const settled = BigInt((row?.gwei as string | null) ?? 0) * WEI_OF_GWEI
      return account ? settled + (await inFlightOfOthers(query, account)) : settled
    },
  }
}

async function inFlightOfOthers(query: Query, account: Hex): Promise<bigint> {
  const [row] = await query(
    `SELECT coalesce(sum(fee), 0)::text AS wei FROM (
       SELECT max(gas_limit * max_fee_per_gas) AS fee FROM attempt JOIN plan ON plan.id = plan
       WHERE account IS DISTINCT FROM $1 GROUP BY plan.id) AS other`,
    [fromHex(account)],
  )
  return BigInt(row?.wei as string)
}
