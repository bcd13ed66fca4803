import { fromHex, type Hex } from '#document/hex.ts'
import type { Successions } from '#promise/supersede.ts'
import type { Database } from './database.ts'
import { all, bytesOf, first, hexOf, statement, type Work } from './sql.ts'

const SELECT = statement('SELECT successor_hash FROM succession WHERE document_hash = :hash')
const INSERT = statement(`
  INSERT INTO succession (document_hash, successor_hash, root) VALUES (:hash, :successor, :root)
  ON CONFLICT DO NOTHING`)
const HAS = statement(
  'SELECT 1 FROM succession WHERE document_hash = :hash AND successor_hash = :successor',
)

/** The successions. The revocations are promised with the outcomes of the successors. */
export function createSuccessions(database: Database): Successions {
  return {
    async successorOf(documentHash) {
      const [row] = await database.read(SELECT, { hash: fromHex(documentHash) })
      return row && hexOf(row.successor_hash)
    },
  }
}

/**
 * Records the successor of a document.
 *
 * @param root The root of that document's batch.
 * @returns `false` when the document has another successor.
 */
export function* claimSuccession(documentHash: Hex, successorHash: Hex, root?: Hex): Work<boolean> {
  const pair = { hash: fromHex(documentHash), successor: fromHex(successorHash) }
  yield* all(INSERT, { ...pair, root: bytesOf(root) })
  return (yield* first(HAS, pair)) !== undefined
}
