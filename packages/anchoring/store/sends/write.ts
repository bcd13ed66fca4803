import type { Hex } from '#document/hex.ts'
import { fromHex } from '#document/hex.ts'
import { type Anchoring, type BlockId, keyOfBlock, type Outcome } from '#promise/anchoring.ts'
import type { Item } from '../items.ts'
import { appendEvents, endOf, follow, WAITING_CHANNEL } from '../outcomes.ts'
import { all, bytesOf, first, isSet, notify, statement, type Work } from '../sql.ts'

// Writes what the chain shows about what is waiting, or is carried by a send. For use under the lock
// of outcomes.

const FIND = statement(`
  SELECT id, account, block_number, block_hash, final FROM send
  WHERE transaction_hash = :transaction
  UNION ALL
  SELECT send.id, send.account, send.block_number, send.block_hash, send.final
  FROM attempt JOIN send ON send.id = attempt.send WHERE attempt.hash = :transaction
  LIMIT 1`)
const FIND_UNKNOWN = statement(`
  SELECT id, account, block_number, block_hash, final FROM send
  WHERE account IS NULL AND transaction_hash IS NULL AND block_number = :block LIMIT 1`)
const INSERT = statement(`
  INSERT INTO send (block_number, block_hash, transaction_hash, final)
  VALUES (:block, :hash, :transaction, :final) RETURNING id`)
const SET_BLOCK = statement(`
  UPDATE send SET block_number = :block, block_hash = :hash, transaction_hash = :transaction,
    seen = false
  WHERE id = :id AND NOT final`)

/**
 * @param isFinal Whether nobody has to look at its block any more.
 * @returns The send of a transaction, which another gateway or a command may have sent. One of ours
 * that is in flight stays so until it is settled itself.
 */
export function* sendAt(
  { blockNumber, blockHash, transactionHash }: Anchoring,
  isFinal = false,
): Work<{ id: number; isFinal: boolean }> {
  const values = {
    block: blockNumber,
    hash: fromHex(blockHash),
    transaction: bytesOf(transactionHash),
  }
  const found = transactionHash
    ? yield* first(FIND, values)
    : yield* first(FIND_UNKNOWN, { block: blockNumber })
  if (!found)
    return { id: Number((yield* first(INSERT, { ...values, final: isFinal }))?.id), isFinal }
  const isInFlight = found.account !== null && found.block_number === null
  const isSame =
    Number(found.block_number) === blockNumber && sameBytes(found.block_hash, values.hash)
  if (!isSame && !isInFlight) yield* all(SET_BLOCK, { ...values, id: found.id })
  return { id: Number(found.id), isFinal: isSet(found.final) }
}

function sameBytes(one: unknown, other: Uint8Array): boolean {
  return one !== null && Buffer.compare(one as Uint8Array, other) === 0
}

/** An item with what was read about it. */
export type Read = { item: Item; outcome: Outcome; before: BlockId | null }

/** Where the items are: in a send, with the hashes of its transactions, or waiting. */
export type From = {
  send?: { id: number; own: ReadonlySet<Hex> }
  /** Whether they get into a block for the first time. */
  isFirst: boolean
}

/** Settles each item by itself. */
export function* settleItems(reads: readonly Read[], from: From): Work<void> {
  const byStatus = Map.groupBy(reads, ({ outcome }) => outcome.status)
  const items = (...names: Outcome['status'][]) =>
    names.flatMap((name) => (byStatus.get(name) ?? []).map(({ item }) => item))
  const anchored = reads.flatMap(({ item, outcome, before }) =>
    outcome.status === 'anchored' ? [{ item, before, after: outcome as Anchoring }] : [],
  )
  const isOwn = ({ after }: { after: Anchoring }) =>
    from.send?.own.has(after.transactionHash ?? '0x') ?? false
  const elsewhere = Map.groupBy(
    anchored.filter((one) => !isOwn(one)),
    ({ after }) => `${after.transactionHash} ${keyOfBlock(after)}`,
  )
  const final: (typeof anchored)[number][] = []
  for (const some of elsewhere.values()) {
    const [one] = some
    if (!one) continue
    const { id, isFinal } = yield* sendAt(one.after)
    yield* moveTo(
      id,
      some.map(({ item }) => item),
      from,
    )
    if (isFinal) final.push(...some)
  }
  yield* refuse(items('conflict', 'distrusted'))
  yield* leave(items('moot'))
  if (from.send) yield* waitAgain(items('absent'), from.send.id, !from.isFirst)
  yield* follow(
    anchored.map(({ item, ...one }) => ({
      action: item.action,
      ...one,
      isFirst: from.isFirst && !item.counted,
    })),
  )
  yield* finishItems(final.map(({ item, after }) => ({ item, anchoring: after })))
}

/** Writes what follows when the sends of items are final. */
export function* finishItems(some: readonly { item: Item; anchoring: Anchoring }[]): Work<void> {
  const issues = some.filter(({ item }) => item.action.kind === 'issue')
  yield* appendEvents(issues.map(({ item, anchoring }) => endOf(item.action, 'final', anchoring)))
}

const placesOf = (items: readonly Item[]) => items.map(({ place }) => place)

/** @returns A place after all in the send, whose transactions carry only the first ones. */
const AFTER = (place: string) =>
  `:last + 2 * abs(${place}) + CASE WHEN ${place} < 0 THEN 1 ELSE 0 END`
const SELECT_LAST = statement(
  'SELECT coalesce(max(place), 0) AS place FROM member WHERE send = :to',
)
const MOVE = statement(
  (sql) => `
    UPDATE member SET send = :to, place = ${AFTER('place')}
    WHERE send = :from AND ${sql.isIn('place', 'places', 'integer')}`,
)
const CARRY = statement(
  (sql) => `
    INSERT INTO member (send, place, record, batch, change, counted)
    SELECT ${sql.value('to', 'integer')}, ${AFTER('id')}, record, batch, change, counted
    FROM waiting
    WHERE ${sql.isIn('id', 'places', 'integer')}`,
)
const LEAVE_QUEUE = statement(
  (sql) => `DELETE FROM waiting WHERE ${sql.isIn('id', 'places', 'integer')}`,
)

const JOIN = statement(`
  UPDATE member SET send = :to, place = ${AFTER('place')} WHERE send = :from`)

/** Moves all members of a send to another one. */
export function* joinSend(to: number, from: number): Work<void> {
  const row = yield* first(SELECT_LAST, { to })
  yield* all(JOIN, { to, from, last: Number(row?.place) })
}

/** Moves items to a send. */
export function* moveTo(
  to: number,
  items: readonly Item[],
  { send }: Pick<From, 'send'>,
): Work<void> {
  if (to === send?.id) return
  const places = placesOf(items)
  const last = Number((yield* first(SELECT_LAST, { to }))?.place)
  if (send) {
    yield* all(MOVE, { to, from: send.id, places, last })
    return
  }
  yield* all(CARRY, { to, places, last })
  yield* all(LEAVE_QUEUE, { places })
}

const named = (column: 'record' | 'batch' | 'change', items: readonly Item[]) =>
  items.flatMap((item) => item[column] ?? [])

const leaveTable = (table: string) =>
  statement(
    (sql) => `
      DELETE FROM ${table} WHERE ${sql.isIn('record', 'records', 'integer')}
        OR ${sql.isIn('batch', 'batches', 'integer')} OR ${sql.isIn('change', 'changes', 'integer')}`,
  )
const LEAVE = [leaveTable('waiting'), leaveTable('member')]

/** Takes items out, because there is nothing to do. */
export function* leave(items: readonly Item[]): Work<void> {
  if (items.length === 0) return
  const ids = {
    records: named('record', items),
    batches: named('batch', items),
    changes: named('change', items),
  }
  for (const table of LEAVE) yield* all(table, ids)
}

const DROP_REVOCATIONS = [
  statement(
    (sql) => `
      DELETE FROM waiting WHERE change IN (
        SELECT id FROM change WHERE ${sql.isIn('after', 'records', 'integer')})`,
  ),
  statement(
    (sql) => `
      DELETE FROM change WHERE ${sql.isIn('after', 'records', 'integer')}
        AND NOT EXISTS (SELECT 1 FROM member WHERE member.change = change.id)`,
  ),
  // One that a send carries goes on.
  statement(
    (sql) => `UPDATE change SET after = NULL WHERE ${sql.isIn('after', 'records', 'integer')}`,
  ),
]
const DROP_RECORDS = statement(
  (sql) => `DELETE FROM record WHERE ${sql.isIn('id', 'records', 'integer')}`,
)
const UNPROMISE = statement(
  (sql) => `UPDATE batch SET promised = false WHERE ${sql.isIn('id', 'batches', 'integer')}`,
)

/** Drops documents and batches that can never be issued. */
function* refuse(items: readonly Item[]): Work<void> {
  if (items.length === 0) return
  yield* leave(items)
  const ids = { records: named('record', items), batches: named('batch', items) }
  for (const drop of DROP_REVOCATIONS) yield* all(drop, ids)
  yield* all(DROP_RECORDS, ids)
  yield* all(UNPROMISE, ids)
  yield* appendEvents(items.map(({ action }) => endOf(action, 'failed', null)))
}

const SELECT_OUTDATED = statement(
  (sql) => `
    SELECT change.id AS id FROM change
    WHERE ${sql.isIn('change.id', 'changes', 'integer')} AND change.kind <> 'revoke' AND EXISTS (
      SELECT 1 FROM change AS later
      WHERE later.hash = change.hash AND later.id > change.id AND later.kind <> 'erase' AND (
        EXISTS (SELECT 1 FROM waiting WHERE waiting.change = later.id)
        OR EXISTS (SELECT 1 FROM member WHERE member.change = later.id)))`,
)
const WAIT_AGAIN = statement(
  (sql) => `
    INSERT INTO waiting (record, batch, change, sent_in, counted)
    SELECT record, batch, change, send, counted OR ${sql.value('counted', 'flag')} FROM member
    WHERE send = :send AND ${sql.isIn('place', 'places', 'integer')} ORDER BY place`,
)
const LEAVE_SEND = statement(
  (sql) => `
    DELETE FROM member WHERE send = :send AND ${sql.isIn('place', 'places', 'integer')}`,
)

/**
 * Puts items into the queue again, but for what a later change of the same document has undone.
 *
 * @param counted Whether they were counted, because they were in a block before.
 */
export function* waitAgain(items: readonly Item[], send: number, counted: boolean): Work<void> {
  if (items.length === 0) return
  const rows = yield* all(SELECT_OUTDATED, { changes: named('change', items) })
  const outdated = new Set(rows.map(({ id }) => Number(id)))
  const isOutdated = ({ change }: Item) => change !== null && outdated.has(change)
  yield* leave(items.filter(isOutdated))
  const places = placesOf(items.filter((item) => !isOutdated(item)))
  yield* all(WAIT_AGAIN, { send, places, counted })
  yield* all(LEAVE_SEND, { send, places })
  yield* notify(WAITING_CHANNEL)
}

const PLACE_RECORDS = statement(
  (sql) => `
    INSERT INTO member (send, place, record)
    SELECT ${sql.value('send', 'integer')}, -2 * record.id, record.id FROM record
    WHERE record.batch IS NULL AND ${sql.isIn('record.hash', 'hashes', 'bytes')} ORDER BY record.id
    ON CONFLICT (record) WHERE record IS NOT NULL
      DO UPDATE SET send = excluded.send, place = excluded.place`,
)
const PLACE_BATCHES = statement(
  (sql) => `
    INSERT INTO member (send, place, batch)
    SELECT ${sql.value('send', 'integer')}, -2 * batch.id - 1, batch.id FROM batch
    WHERE ${sql.isIn('batch.root', 'hashes', 'bytes')} ORDER BY batch.id
    ON CONFLICT (batch) WHERE batch IS NOT NULL
      DO UPDATE SET send = excluded.send, place = excluded.place`,
)

/** Notes where documents are that the chain has already. @param isFinal See {@link sendAt}. */
export function* placeRecords(
  hashes: readonly Hex[],
  anchoring: Anchoring,
  isFinal = false,
): Work<void> {
  yield* all(PLACE_RECORDS, {
    send: (yield* sendAt(anchoring, isFinal)).id,
    hashes: hashes.map(fromHex),
  })
}

/** As {@link placeRecords}, for a batch. */
export function* placeBatch(root: Hex, anchoring: Anchoring, isFinal = false): Work<void> {
  yield* all(PLACE_BATCHES, {
    send: (yield* sendAt(anchoring, isFinal)).id,
    hashes: [fromHex(root)],
  })
}
