import { fromHex } from '#document/hex.ts'
import { type BlockId, keyOfBlock } from '#promise/anchoring.ts'
import type { AnchorBlocks } from '#promise/ports.ts'
import type { Postgres } from '../../drivers/postgres/database.ts'
import type { Query } from '../../drivers/postgres/query.ts'
import { blockOf } from './rows.ts'

const BLOCKS = 'unnest($1::bigint[], $2::bytea[]) AS item (number, hash)'

function valuesOf(blocks: readonly BlockId[]) {
  const distinct = [...new Map(blocks.map((block) => [keyOfBlock(block), block])).values()]
  return [
    distinct.map(({ blockNumber }) => blockNumber),
    distinct.map(({ blockHash }) => fromHex(blockHash)),
  ]
}

/** Lists blocks that get intents. For use under the lock of outcomes. */
export async function addBlocks(query: Query, blocks: readonly BlockId[]): Promise<void> {
  if (blocks.length === 0) return
  await query(
    `INSERT INTO anchor_block (block_number, block_hash) SELECT number, hash FROM ${BLOCKS}
     ON CONFLICT DO NOTHING`,
    valuesOf(blocks),
  )
}

/** Deletes those blocks that no intent is in any more. For use under the lock of outcomes. */
export async function deleteEmptyBlocks(query: Query, left: readonly BlockId[]): Promise<void> {
  if (left.length === 0) return
  await query(
    `DELETE FROM anchor_block USING ${BLOCKS}
     WHERE block_number = item.number AND block_hash = item.hash AND NOT EXISTS (
       SELECT 1 FROM intent
       WHERE intent.block_number = item.number AND intent.block_hash = item.hash)`,
    valuesOf(left),
  )
}

export function createAnchorBlocks({ query }: Postgres): AnchorBlocks {
  return {
    async unseen(after, limit) {
      const rows = await query(
        `SELECT block_number, block_hash FROM anchor_block
         WHERE NOT seen AND (block_number, block_hash) > ($1, $2::bytea)
         ORDER BY block_number, block_hash LIMIT $3`,
        [after?.blockNumber ?? -1, fromHex(after?.blockHash ?? '0x'), limit],
      )
      return rows.map(blockOf)
    },
    async newestSeen() {
      const [row] = await query(`
        SELECT block_number, block_hash FROM anchor_block WHERE seen
        ORDER BY block_number DESC, block_hash DESC LIMIT 1`)
      return row && blockOf(row)
    },
    async note(blocks, seen) {
      await query(
        `UPDATE anchor_block SET seen = $3 FROM ${BLOCKS}
         WHERE block_number = item.number AND block_hash = item.hash`,
        [...valuesOf(blocks), seen],
      )
    },
  }
}
