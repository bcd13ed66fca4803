import { clock } from '#base/clock.ts'
import { WEI_OF_GWEI } from '#base/wei.ts'
import type { FeeLog } from '#promise/ports.ts'
import type { Database } from '../../drivers/sqlite/database.ts'
import { gweiOf, MAX_FEE_AGE_MINUTES, minuteOf } from '../../rules.ts'
import type { Row } from './rows.ts'

/** Adds a fee, in wei, to those of this minute. For use within a write. */
export type AddFee = (fee: bigint) => void

export function createAddFee({ sqlite }: Database): AddFee {
  const deleteBefore = sqlite.prepare('DELETE FROM fee WHERE minute < ?')
  const add = sqlite.prepare(`
    INSERT INTO fee (minute, gwei) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET gwei = gwei + excluded.gwei`)

  return (fee) => {
    if (fee === 0n) return
    const minute = minuteOf(clock.now())
    deleteBefore.run(minute - MAX_FEE_AGE_MINUTES)
    add.run(minute, gweiOf(fee))
  }
}

export function createFeeLog({ sqlite }: Database): FeeLog {
  const sumSince = sqlite.prepare('SELECT sum(gwei) AS gwei FROM fee WHERE minute >= ?')

  return {
    async feesSince(time) {
      const row = sumSince.get(minuteOf(time)) as Row
      return BigInt(row.gwei ?? 0) * WEI_OF_GWEI
    },
  }
}
