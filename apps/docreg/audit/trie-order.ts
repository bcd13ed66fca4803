import type { DatabaseSync } from 'node:sqlite'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { trieKeyOf } from '#verifier/proof/slots.ts'

/**
 * Sorts slots by their order in the storage trie, on disk.
 *
 * @param slotOf Returns the slot of an index.
 * @returns Each index with its slot. Only one such sort can run at a time.
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
