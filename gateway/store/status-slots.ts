import { MAX_LISTED, type Slot, type StatusSlots } from '#credentials/status-slots.ts'
import { fromHex } from '#document/hex.ts'
import { hexOf, isSet } from './columns.ts'
import type { Database } from './database.ts'
import { all, first, type Row, statement, type Work } from './sql.ts'

// Slots are given one after another. Any other number would do.
const LOCK = statement(({ name }) =>
  name === 'postgres' ? 'SELECT pg_advisory_xact_lock(7160025)' : '',
)
const SELECT_SLOT = statement(
  'SELECT list, slot FROM status_slot WHERE document_hash = :hash AND root = :root',
)
const SELECT_OPEN = statement(`
  SELECT coalesce(
    (SELECT min(list) FROM status_list WHERE NOT lost AND used < ${MAX_LISTED}),
    (SELECT coalesce(max(list), 0) + 1 FROM status_list)) AS list`)
const OPEN = statement(`
  INSERT INTO status_list (list, used, lost) VALUES (:list, 0, false) ON CONFLICT (list) DO NOTHING`)
const TAKE = statement(`
  INSERT INTO status_slot (list, slot, document_hash, root) VALUES (:list, :slot, :hash, :root)
  ON CONFLICT DO NOTHING RETURNING list, slot`)
const COUNT = statement('UPDATE status_list SET used = used + 1 WHERE list = :list')
const SELECT_LIST = statement('SELECT lost FROM status_list WHERE list = :list')
const SELECT_ENTRIES = statement(`
  SELECT slot, document_hash, root,
    EXISTS (SELECT 1 FROM tombstone WHERE tombstone.hash = document_hash) AS erased
  FROM status_slot WHERE list = :list`)

const NO_ROOT = new Uint8Array()

/** The places of documents in status lists. */
export function createStatusSlots({ read, write, snapshot }: Database): StatusSlots {
  return {
    async take({ documentHash, root }, indexesIn) {
      const key = { hash: fromHex(documentHash), root: root ? fromHex(root) : NO_ROOT }
      const [kept] = await read(SELECT_SLOT, key)
      return kept ? slotOf(kept) : write(() => take(key, indexesIn))
    },
    entries: (list) =>
      snapshot(function* () {
        if (!(yield* first(SELECT_LIST, { list }))) return undefined
        const rows = yield* all(SELECT_ENTRIES, { list })
        return rows.map((row) => ({
          index: Number(row.slot),
          documentHash: hexOf(row.document_hash),
          ...((row.root as Uint8Array).length > 0 && { root: hexOf(row.root) }),
          erased: isSet(row.erased),
        }))
      }),
  }
}

function* take(
  key: { hash: Uint8Array; root: Uint8Array },
  indexesIn: (list: number) => readonly number[],
): Work<Slot> {
  yield* all(LOCK)
  const kept = yield* first(SELECT_SLOT, key)
  if (kept) return slotOf(kept)
  const open = yield* first(SELECT_OPEN)
  for (let list = Number(open?.list); ; list++) {
    yield* all(OPEN, { list })
    for (const slot of indexesIn(list)) {
      const taken = yield* first(TAKE, { ...key, list, slot })
      if (!taken) continue
      yield* all(COUNT, { list })
      return slotOf(taken)
    }
  }
}

function slotOf({ list, slot }: Row): Slot {
  return { list: Number(list), index: Number(slot) }
}
