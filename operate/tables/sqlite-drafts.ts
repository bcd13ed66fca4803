import type { DatabaseSync } from 'node:sqlite'
import type { Row } from './rows.ts'

// SQLite names the blocks of a draft by the first and the last of their numbers, PostgreSQL by their
// hashes.

const HASH_BYTES = 32

/** Leaves out blocks that are stored a second time: that payload may be promised by now. */
export function* readDrafts(sqlite: DatabaseSync): Iterable<Row> {
  const drafts = sqlite.prepare(
    'SELECT id, request, first_block, last_block, kubo_root, batch FROM batch_draft ORDER BY id',
  )
  drafts.setReadBigInts(true)
  const blocks = sqlite.prepare(`
    SELECT hash FROM block AS own WHERE id BETWEEN ? AND ? AND NOT EXISTS (
      SELECT 1 FROM block_by_key AS other
      WHERE other.key = substr(own.hash, 1, 8) AND other.hash = own.hash AND other.id <> own.id)
    ORDER BY id`)
  for (const row of drafts.iterate()) {
    const { id, request, first_block, last_block, kubo_root, batch } = row
    const found = blocks.all(first_block ?? null, last_block ?? null)
    const hashes = found.map(({ hash }) => hash as Uint8Array)
    yield [id, request, hashes.length > 0 ? Buffer.concat(hashes) : null, kubo_root, batch] as Row
  }
}

/** The blocks were inserted before, one after the other. */
export function writeDraft(sqlite: DatabaseSync, row: Row): void {
  const [id, request, hashes, kuboRoot, batch] = row as [bigint, ...(Uint8Array | null)[]]
  const number = sqlite.prepare(
    'SELECT id FROM block_by_key WHERE key = substr(?1, 1, 8) AND hash = ?1',
  )
  const numberOf = (hash: Uint8Array | undefined) =>
    hash === undefined ? null : Number(number.get(hash)?.id)
  const first = numberOf(hashes?.subarray(0, HASH_BYTES))
  const last = numberOf(hashes?.subarray(-HASH_BYTES))
  sqlite
    .prepare(`
      INSERT INTO batch_draft (id, request, first_block, last_block, kubo_root, batch)
      VALUES (?, ?, ?, ?, ?, ?)`)
    .run(id, request ?? null, first, last, kuboRoot ?? null, batch ?? null)
}
