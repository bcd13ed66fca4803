import { fromHex } from '#document/hex.ts'
import { type BlockId, keyOfBlock } from '#promise/anchoring.ts'
import type { AnchorBlocks } from '#promise/ports.ts'
import type { Database } from '../database.ts'
import { blockOf } from '../intents.ts'
import { each, statement, type Values, type Work } from '../sql.ts'

const BLOCK = { number: 'integer', hash: 'bytes' } as const

const ADD = statement(
  (sql) => `
    INSERT INTO anchor_block (block_number, block_hash)
    SELECT item.number, item.hash FROM ${sql.items(BLOCK)} WHERE true ON CONFLICT DO NOTHING`,
)
const DELETE_EMPTY = statement(
  (sql) => `
    DELETE FROM anchor_block WHERE (block_number, block_hash) IN (
      SELECT item.number, item.hash FROM ${sql.items(BLOCK)}
      WHERE NOT EXISTS (
        SELECT 1 FROM intent
        WHERE intent.block_number = item.number AND intent.block_hash = item.hash))`,
)
const NOTE = statement(
  (sql) => `
    UPDATE anchor_block SET seen = :seen FROM ${sql.items(BLOCK)}
    WHERE block_number = item.number AND block_hash = item.hash`,
)
const SELECT_UNSEEN = statement(`
  SELECT block_number, block_hash FROM anchor_block
  WHERE NOT seen AND (block_number, block_hash) > (:number, :hash)
  ORDER BY block_number, block_hash LIMIT :limit`)
const SELECT_NEWEST_SEEN = statement(`
  SELECT block_number, block_hash FROM anchor_block WHERE seen
  ORDER BY block_number DESC, block_hash DESC LIMIT 1`)

function valuesOf(blocks: readonly BlockId[]): Values[] {
  const distinct = new Map(blocks.map((block) => [keyOfBlock(block), block]))
  return [...distinct.values()].map(({ blockNumber, blockHash }) => ({
    number: blockNumber,
    hash: fromHex(blockHash),
  }))
}

/** Lists blocks that get intents. Call this under the lock of outcomes. */
export function* addBlocks(blocks: readonly BlockId[]): Work<void> {
  yield* each(ADD, valuesOf(blocks))
}

/** Deletes blocks that no longer have an intent. Call this under the lock of outcomes. */
export function* deleteEmptyBlocks(left: readonly BlockId[]): Work<void> {
  yield* each(DELETE_EMPTY, valuesOf(left))
}

export function createAnchorBlocks(database: Database): AnchorBlocks {
  return {
    async unseen(after, limit) {
      const { blockNumber = -1, blockHash = '0x' } = after ?? {}
      const rows = await database.read(SELECT_UNSEEN, {
        number: blockNumber,
        hash: fromHex(blockHash),
        limit,
      })
      return rows.map(blockOf)
    },
    async newestSeen() {
      const [row] = await database.read(SELECT_NEWEST_SEEN)
      return row && blockOf(row)
    },
    async note(blocks, seen) {
      if (blocks.length > 0) await database.change(NOTE, { seen }, valuesOf(blocks))
    },
  }
}
