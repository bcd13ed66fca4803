import type { BlockId } from '#promise/anchoring.ts'
import type { AnchorBlocks } from '#promise/ports.ts'
import type { Database } from '../../drivers/sqlite/database.ts'
import { blockOf, type Row } from './rows.ts'

/** Keeps the list of blocks in step with the intents in them. For use within a write. */
export type BlockWriter = {
  /** Does nothing when the block is listed already. */
  add(block: BlockId): void
  /** Deletes those blocks that no intent is in any more. */
  deleteEmpty(left: readonly BlockId[]): void
}

export function createBlockWriter({ sqlite }: Database): BlockWriter {
  const insert = sqlite.prepare(`
    INSERT INTO anchor_block (block_number, block_hash) VALUES (?, ?) ON CONFLICT DO NOTHING`)
  const deleteIfEmpty = sqlite.prepare(`
    DELETE FROM anchor_block WHERE block_number = ?1 AND block_hash = ?2 AND NOT EXISTS (
      SELECT 1 FROM intent WHERE block_number = ?1 AND block_hash = ?2)`)

  return {
    add({ blockNumber, blockHash }) {
      insert.run(blockNumber, blockHash)
    },
    deleteEmpty(left) {
      const blocks = new Map(
        left.map((block) => [`${block.blockNumber} ${block.blockHash}`, block]),
      )
      for (const { blockNumber, blockHash } of blocks.values())
        deleteIfEmpty.run(blockNumber, blockHash)
    },
  }
}

export function createAnchorBlocks({ sqlite, write }: Database): AnchorBlocks {
  const mark = sqlite.prepare(
    'UPDATE anchor_block SET seen = ? WHERE block_number = ? AND block_hash = ?',
  )
  const selectUnseen = sqlite.prepare(`
    SELECT block_number, block_hash FROM anchor_block
    WHERE seen = 0 AND (block_number, block_hash) > (?, ?)
    ORDER BY block_number, block_hash LIMIT ?`)
  const selectNewestSeen = sqlite.prepare(`
    SELECT block_number, block_hash FROM anchor_block WHERE seen = 1
    ORDER BY block_number DESC, block_hash DESC LIMIT 1`)

  return {
    async unseen(after, limit) {
      const rows = selectUnseen.all(after?.blockNumber ?? -1, after?.blockHash ?? '', limit)
      return (rows as Row[]).map(blockOf)
    },
    async newestSeen() {
      const row = selectNewestSeen.get() as Row | undefined
      return row && blockOf(row)
    },
    note: (blocks, seen) =>
      write(() => {
        for (const { blockNumber, blockHash } of blocks)
          mark.run(seen ? 1 : 0, blockNumber, blockHash)
      }),
  }
}
