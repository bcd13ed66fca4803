import type { Anchored } from '#promise/anchoring.ts'
import type { Intent } from '#promise/intent.ts'
import type { Database } from '../../drivers/sqlite/database.ts'
import type { BlockWriter } from './blocks.ts'
import { blockOf, type Row } from './rows.ts'

/** Kinds that undo each other. */
const OPPOSITES = { suspend: 'release', release: 'suspend' } as const

/** Suspending and releasing a document. For use within a write. */
export type Opposites = {
  /** Whether the opposite of an intent is in the outbox and not on the chain yet. */
  isWaiting(intent: Intent): boolean
  /** Deletes the anchored intents that newly anchored ones have undone. */
  deleteUndone(anchored: readonly Anchored[]): void
}

export function createOpposites({ sqlite }: Database, blocks: BlockWriter): Opposites {
  const selectWaiting = sqlite.prepare(`
    SELECT 1 FROM intent WHERE document_hash = ? AND kind = ? AND block_number IS NULL`)
  const deleteAnchored = sqlite.prepare(`
    DELETE FROM intent WHERE kind = ? AND block_number IS NOT NULL
    AND document_hash IN (SELECT value FROM json_each(?))
    RETURNING block_number, block_hash`)

  return {
    isWaiting: ({ kind, documentHash }) =>
      (kind === 'suspend' || kind === 'release') &&
      selectWaiting.get(documentHash, OPPOSITES[kind]) !== undefined,
    deleteUndone(anchored) {
      for (const kind of ['suspend', 'release'] as const) {
        const hashes = anchored
          .filter(({ intent }) => intent.kind === kind)
          .map(({ intent }) => intent.documentHash)
        if (hashes.length === 0) continue
        const undone = deleteAnchored.all(OPPOSITES[kind], JSON.stringify(hashes)) as Row[]
        blocks.deleteEmpty(undone.map(blockOf))
      }
    },
  }
}
