import { fromHex, type Hex } from '#document/hex.ts'
import { MAX_HOLD_MS, type Queue, type Sender } from '#promise/ports.ts'
import { type Database, lockOutcomes } from './database.ts'
import { itemColumns, itemJoins, itemOf } from './items.ts'
import { settleItems } from './sends/write.ts'
import { type Dialect, hexOf, type Row, statement, type Values } from './sql.ts'

// What waits for a send, in the order in which it came. This is the queue.

/** The values that {@link maySend} names. */
export function senderValues({ account, own }: Sender): Values {
  return {
    account: fromHex(account),
    isSole: own !== undefined,
    own: (own ?? [account]).map(fromHex),
  }
}

/** An account that sends no more: the only gateway does not have it. */
const isGone = (sql: Dialect, account: string) =>
  `(${sql.value('isSole', 'flag')} AND NOT (${sql.isIn(account, 'own', 'bytes')}))`

/** Whether an item is in a block, after which this account may send what follows on it. */
const isReady = (sql: Dialect, column: 'record' | 'batch', id: string) => `EXISTS (
  SELECT 1 FROM member JOIN send ON send.id = member.send
  WHERE member.${column} = ${id} AND send.block_number IS NOT NULL AND (
    send.final OR send.account IS NULL OR send.account = ${sql.value('account', 'bytes')}
    OR ${isGone(sql, 'send.account')}))`

/**
 * A condition of `waiting` and its `change`: whether an account may send it now.
 *
 * A change waits until its document or batch, and the change before it, are in a block; where
 * another account sent these, in a final one. The registry skips the change of a document that is
 * not on the chain, and only the transactions of one account stay in order after a reorg. A
 * suspension or a release that an account has carried could be mined once more until a final block
 * has its nonce, so no other account sends it before.
 */
export const maySend = (sql: Dialect) => `(waiting.change IS NULL OR (
  (change.kind = 'revoke' OR NOT EXISTS (
    SELECT 1 FROM send WHERE send.id = waiting.sent_in AND NOT send.final
      AND send.account <> ${sql.value('account', 'bytes')} AND NOT ${isGone(sql, 'send.account')}))
  AND NOT EXISTS (
    SELECT 1 FROM record WHERE change.root IS NULL AND record.hash = change.hash
      AND record.batch IS NULL AND NOT ${isReady(sql, 'record', 'record.id')})
  AND NOT EXISTS (
    SELECT 1 FROM batch WHERE batch.root = change.root AND batch.promised
      AND NOT ${isReady(sql, 'batch', 'batch.id')})
  AND (change.after IS NULL OR ${isReady(sql, 'record', 'change.after')})
  AND NOT EXISTS (
    SELECT 1 FROM change AS other JOIN member ON member.change = other.id
      JOIN send ON send.id = member.send
    WHERE other.hash = change.hash AND other.id <> change.id AND send.block_number IS NOT NULL
      AND NOT send.final AND send.account <> ${sql.value('account', 'bytes')}
      AND NOT ${isGone(sql, 'send.account')})))`

// A change of the clock must not prolong the wait.
const IS_HELD = `waiting.not_before > :now AND waiting.not_before <= :now + ${MAX_HOLD_MS}`
const SELECT_NEXT = statement(
  (sql) => `
    SELECT ${itemColumns('waiting')}, waiting.tries AS tries, waiting.sent_in AS sent_in
    FROM waiting ${itemJoins('waiting')}
    WHERE (${IS_HELD}) IS NOT TRUE AND ${maySend(sql)}
    ORDER BY waiting.id LIMIT :limit`,
)
const COUNT = statement(`
  SELECT count(*) AS count, sum(CASE WHEN ${IS_HELD} THEN 1 ELSE 0 END) AS held FROM (
    SELECT not_before FROM waiting LIMIT :limit) AS waiting`)
const NEWEST = statement('SELECT coalesce(max(id), 0) AS id FROM waiting')
const SELECT_CARRIERS = statement(`
  SELECT DISTINCT send.account FROM waiting JOIN change ON change.id = waiting.change
    JOIN send ON send.id = waiting.sent_in
  WHERE change.kind IN ('suspend', 'release') AND NOT send.final AND send.account IS NOT NULL`)
const HOLD = statement(
  (sql) => `
    UPDATE waiting SET not_before = :until, tries = :tries
    WHERE ${sql.isIn('id', 'places', 'integer')}`,
)
const HOLD_ISSUES = statement('UPDATE waiting SET not_before = :until WHERE change IS NULL')
const FREE_ISSUES = statement(
  'UPDATE waiting SET not_before = NULL WHERE change IS NULL AND not_before IS NOT NULL',
)
const SELECT_ITEMS = statement(
  (sql) => `
    SELECT ${itemColumns('waiting')} FROM waiting ${itemJoins('waiting')}
    WHERE ${sql.isIn('waiting.id', 'places', 'integer')}`,
)

export function createQueue(database: Database): Queue {
  return {
    async next(sender, { now, limit }) {
      const rows = await database.read(SELECT_NEXT, { ...senderValues(sender), now, limit })
      return rows.map(waitingOf)
    },
    async count(now, limit) {
      const [row] = await database.read(COUNT, { now, limit })
      const held = Number(row?.held ?? 0)
      return { queued: Number(row?.count ?? 0) - held, held }
    },
    async newest() {
      const [row] = await database.read(NEWEST)
      return Number(row?.id)
    },
    async carriers(): Promise<Hex[]> {
      return (await database.read(SELECT_CARRIERS)).map(({ account }) => hexOf(account))
    },
    async hold(some, tries, until) {
      await database.change(HOLD, { tries, until, places: some.map(({ place }) => place) })
    },
    async holdIssues(until) {
      await database.change(until === null ? FREE_ISSUES : HOLD_ISSUES, { until })
    },
    resolve: (found) =>
      database.write(function* () {
        yield* lockOutcomes()
        const byPlace = new Map(found.map(({ place, outcome }) => [place, outcome]))
        const rows = yield { statement: SELECT_ITEMS, values: { places: [...byPlace.keys()] } }
        const reads = rows.map(itemOf).flatMap((item) => {
          const outcome = byPlace.get(item.place)
          return outcome ? [{ item, outcome, before: null }] : []
        })
        yield* settleItems(reads, { isFirst: true })
      }),
  }
}

function waitingOf(row: Row) {
  const { action, place } = itemOf(row)
  return { action, place, tries: Number(row.tries), wasSent: row.sent_in !== null }
}
