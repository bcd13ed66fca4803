import type { DatabaseSync } from 'node:sqlite'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { trieKeyOf } from '#verifier/proof/slots.ts'

/**
 * Sorts slots as they stand in the storage trie, on the disk.
 *
 * @param slotOf The slot of an index.
 * @returns Each index with its slot. Until it has ended, no second one can begin.
 */
export function* inTrieOrder(
  scratch: DatabaseSync,
  count: number,
  slotOf: (index: number) => Hex,
): Generator<{ index: number; slot: Hex }> {
  scratch.exec(`DROP TABLE IF EXISTS slots;
    CREATE TABLE slots (id INTEGER PRIMARY KEY, key BLOB NOT NULL, slot BLOB NOT NULL)`)
  const insert = scratch.prepare('INSERT INTO slots VALUES (?, ?, ?)')
  for (let index = 0; index < count; index++) {
    const slot = slotOf(index)
    insert.run(index, trieKeyOf(slot), fromHex(slot))
  }
  const sorted = scratch.prepare('SELECT id, slot FROM slots ORDER BY key')
  for (const { id, slot } of sorted.iterate())
    yield { index: id as number, slot: toHex(slot as Uint8Array) }
  scratch.exec('DROP TABLE slots')
}
