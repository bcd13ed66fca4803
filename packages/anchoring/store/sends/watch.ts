import { fromHex } from '#document/hex.ts'
import type { Anchored, BlockId } from '#promise/anchoring.ts'
import type { SentBlocks } from '#promise/ports.ts'
import { type Database, lockOutcomes } from '../database.ts'
import { anchoringOf, blockOf, itemColumns, itemJoins, itemOf } from '../items.ts'
import { follow } from '../outcomes.ts'
import {
  all,
  first,
  hexOrNull,
  numberOrNull,
  type Row,
  statement,
  type Values,
  type Work,
} from '../sql.ts'
import { finishItems, sendAt, settleItems } from './write.ts'

// The sends that are in a block, until it is final.

const BLOCK_ITEM = { number: 'integer', hash: 'bytes' } as const
const IS_BLOCK = 'send.block_number = :number AND send.block_hash = :hash AND NOT send.final'
const SELECT_UNSEEN = statement(`
  SELECT DISTINCT block_number, block_hash FROM send
  WHERE NOT seen AND block_number IS NOT NULL AND NOT final
    AND (block_number, block_hash) > (:number, :hash)
  ORDER BY block_number, block_hash LIMIT :limit`)
const SELECT_NEWEST_SEEN = statement(`
  SELECT block_number, block_hash FROM send
  WHERE seen AND block_number IS NOT NULL AND NOT final
  GROUP BY block_number, block_hash ORDER BY block_number DESC, block_hash DESC LIMIT :limit`)
const SELECT_UP_TO = statement(`
  SELECT DISTINCT block_number, block_hash FROM send
  WHERE block_number IS NOT NULL AND NOT final AND block_number <= :number
  ORDER BY block_number, block_hash LIMIT :limit`)
const NOTE = statement(
  (sql) => `
    UPDATE send SET seen = :seen FROM ${sql.items(BLOCK_ITEM)}
    WHERE send.block_number = item.number AND send.block_hash = item.hash AND NOT send.final`,
)

export function createSentBlocks(database: Database): SentBlocks {
  return {
    async unseen(after, limit) {
      const { number, hash } = valuesOf(after ?? { blockNumber: -1, blockHash: '0x' })
      const rows = await database.read(SELECT_UNSEEN, { number, hash, limit })
      return rows.map(blockOf)
    },
    async newestSeen(limit) {
      return (await database.read(SELECT_NEWEST_SEEN, { limit })).map(blockOf)
    },
    async upTo(number, limit) {
      return (await database.read(SELECT_UP_TO, { number, limit })).map(blockOf)
    },
    async note(blocks, seen) {
      if (blocks.length > 0) await database.change(NOTE, { seen }, blocks.map(valuesOf))
    },
    finish: (block) => database.write(() => locked(() => finish(block))),
    lose: (blocks) => database.write(() => locked(() => lose(blocks))),
    ofOthers: (block) => database.snapshot(() => readOthers(block)),
    move: (...moved) => database.write(() => locked(() => move(...moved))),
  }
}

function* locked<T>(work: () => Work<T>): Work<T> {
  yield* lockOutcomes()
  return yield* work()
}

function valuesOf({ blockNumber, blockHash }: BlockId): Values {
  return { number: blockNumber, hash: fromHex(blockHash) }
}

const FINISH = statement(`UPDATE send SET final = true WHERE ${IS_BLOCK} RETURNING id`)
const FORGET_ATTEMPTS = statement(
  (sql) => `DELETE FROM attempt WHERE ${sql.isIn('send', 'sends', 'integer')}`,
)
const SELECT_MEMBERS = statement(
  (sql) => `
    SELECT ${itemColumns('member')}, send.block_number, send.block_hash, send.transaction_hash
    FROM send JOIN member ON member.send = send.id ${itemJoins('member')}
    WHERE ${sql.isIn('send.id', 'sends', 'integer')} ORDER BY send.id, member.place`,
)

function* finish(block: BlockId): Work<Anchored[]> {
  const sends = (yield* all(FINISH, valuesOf(block))).map(({ id }) => id)
  if (sends.length === 0) return []
  yield* all(FORGET_ATTEMPTS, { sends })
  const carried = (yield* all(SELECT_MEMBERS, { sends })).map(carriedOf)
  yield* finishItems(carried)
  return carried.map(({ item, anchoring }) => ({ action: item.action, anchoring }))
}

function carriedOf(row: Row) {
  return { item: itemOf(row), anchoring: anchoringOf(row) }
}

const SELECT_OWN = statement(
  (sql) => `
    SELECT id FROM send WHERE ${IS_BLOCK} AND account IS NOT NULL ${sql.forUpdate('send')}`,
)
const LOSE = statement(
  (sql) => `
    UPDATE send SET block_number = NULL, block_hash = NULL, transaction_hash = NULL, seen = false
    WHERE ${sql.isIn('id', 'sends', 'integer')}`,
)

/** @returns The number of sends that are in flight again. */
function* lose(blocks: readonly BlockId[]): Work<number> {
  let lost = 0
  for (const block of blocks) {
    const sends = (yield* all(SELECT_OWN, valuesOf(block))).map(({ id }) => id)
    if (sends.length === 0) continue
    const carried = (yield* all(SELECT_MEMBERS, { sends })).map(itemOf)
    yield* all(LOSE, { sends })
    yield* follow(
      carried.map(({ action }) => ({ action, before: block, after: null, isFirst: false })),
    )
    lost += sends.length
  }
  return lost
}

const SELECT_OTHERS = statement(`
  SELECT member.send, ${itemColumns('member')} FROM send JOIN member ON member.send = send.id
  ${itemJoins('member')}
  WHERE ${IS_BLOCK} AND send.account IS NULL ORDER BY member.send, member.place`)

function* readOthers(block: BlockId) {
  const rows = yield* all(SELECT_OTHERS, valuesOf(block))
  return [...Map.groupBy(rows, ({ send }) => Number(send))].map(([id, some]) => ({
    id,
    members: some.map((row) => {
      const { action, place } = itemOf(row)
      return { action, place }
    }),
  }))
}

const SELECT_SEND = statement(
  (sql) => `
    SELECT block_number, block_hash, transaction_hash FROM send
    WHERE id = :id AND NOT final ${sql.forUpdate('send')}`,
)
const SELECT_ITEMS = statement(`
  SELECT ${itemColumns('member')} FROM member ${itemJoins('member')}
  WHERE member.send = :id ORDER BY member.place`)
const DELETE_EMPTY = statement(`
  DELETE FROM send WHERE id = :id AND NOT EXISTS (SELECT 1 FROM member WHERE send = :id)`)

function* move(...[id, members, outcomes]: Parameters<SentBlocks['move']>): Work<void> {
  const row = yield* first(SELECT_SEND, { id })
  if (!row || numberOrNull(row.block_number) === null) return
  const [before, transaction] = [blockOf(row), hexOrNull(row.transaction_hash)]
  const byPlace = new Map(members.map(({ place }, i) => [place, outcomes[i]]))
  const reads = (yield* all(SELECT_ITEMS, { id })).map(itemOf).flatMap((item) => {
    const outcome = byPlace.get(item.place)
    return outcome ? [{ item, outcome, before }] : []
  })
  // The same transaction may be in another block now, or its block has become known.
  for (const { outcome } of reads) {
    if (outcome.status !== 'anchored' || outcome.transactionHash !== transaction) continue
    if (transaction !== null || outcome.blockNumber === before.blockNumber) yield* sendAt(outcome)
  }
  const own = new Set(transaction === null ? [] : [transaction])
  yield* settleItems(reads, { send: { id, own }, isFirst: false })
  yield* all(DELETE_EMPTY, { id })
}
