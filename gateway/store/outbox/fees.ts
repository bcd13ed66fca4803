import { clock } from '#base/clock.ts'
import { WEI_OF_GWEI } from '#base/wei.ts'
import type { Hex } from '#document/hex.ts'
import type { FeeLog } from '#promise/ports.ts'
import type { Database } from '../database.ts'
import { gweiOf, MAX_FEE_AGE_MINUTES, minuteOf } from '../rules.ts'
import { all, bytesOf, type Row, statement, type Work } from '../sql.ts'

const DELETE_BEFORE = statement('DELETE FROM fee WHERE minute < :minute')
const ADD = statement(`
  INSERT INTO fee (minute, gwei) VALUES (:minute, :gwei)
  ON CONFLICT (minute) DO UPDATE SET gwei = fee.gwei + excluded.gwei`)
const SUM = statement('SELECT CAST(sum(gwei) AS text) AS gwei FROM fee WHERE minute >= :minute')
const SELECT_OTHERS = statement(
  (sql) => `
    SELECT attempt.plan, gas_limit, max_fee_per_gas FROM attempt JOIN plan ON plan.id = attempt.plan
    WHERE plan.account IS DISTINCT FROM ${sql.value('account', 'bytes')}`,
)

/** Adds a fee in wei to those of this minute. */
export function* addFee(fee: bigint): Work<void> {
  if (fee === 0n) return
  const minute = minuteOf(clock.now())
  yield* all(DELETE_BEFORE, { minute: minute - MAX_FEE_AGE_MINUTES })
  yield* all(ADD, { minute, gwei: gweiOf(fee) })
}

/**
 * @param account The account whose plans in flight the caller knows. Those of others count here, as
 * if each cost its maximum.
 */
export function createFeeLog(database: Database, account?: Hex): FeeLog {
  return {
    async feesSince(time) {
      const [row] = await database.read(SUM, { minute: minuteOf(time) })
      const settled = BigInt((row?.gwei as string | null) ?? 0) * WEI_OF_GWEI
      if (!account) return settled
      return settled + inFlight(await database.read(SELECT_OTHERS, { account: bytesOf(account) }))
    },
  }
}

/** @param attempts The attempts, of which the most expensive of each plan counts. */
function inFlight(attempts: readonly Row[]): bigint {
  const dearest = new Map<unknown, bigint>()
  for (const { plan, gas_limit, max_fee_per_gas } of attempts) {
    const fee = BigInt(Number(gas_limit)) * BigInt(String(max_fee_per_gas))
    if (fee > (dearest.get(plan) ?? 0n)) dearest.set(plan, fee)
  }
  return [...dearest.values()].reduce((sum, fee) => sum + fee, 0n)
}
