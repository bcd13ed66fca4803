import { fromHex, type Hex } from '#document/hex.ts'
import { type Backlog, MAX_HOLD_MS, type PromisedPayloads } from '#promise/ports.ts'
import { type Database, lockOutcomes } from '../database.ts'
import { INTENT_COLUMNS, IS_KEY, intentOf, KEY, keysOf, maySend } from '../intents.ts'
import { hexOf, type Row, statement } from '../sql.ts'
import { writeOutcome } from './settle.ts'

/** Payloads in one read, some kilobytes each. */
const MAX_PAYLOADS = 200

const IS_WAITING = 'intent.plan IS NULL AND intent.block_number IS NULL'
// A change of the clock must not prolong the wait.
const IS_HELD = `held_until > :now AND held_until <= :now + ${MAX_HOLD_MS}`
const SELECT_NEXT = statement(`
  SELECT ${INTENT_COLUMNS}, intent.tries FROM intent
  WHERE ${IS_WAITING} AND (${IS_HELD}) IS NOT TRUE AND ${maySend(':account')}
  ORDER BY id LIMIT :limit`)
const COUNT = statement(`
  SELECT count(*) AS count, sum(CASE WHEN ${IS_HELD} THEN 1 ELSE 0 END) AS held FROM (
    SELECT held_until FROM intent WHERE ${IS_WAITING} LIMIT :limit) AS waiting`)
const NEWEST = statement('SELECT coalesce(max(id), 0) AS id FROM intent')
// What an account has carried, and no other account may send; see `maySend`.
const SELECT_CARRIERS = statement(`
  SELECT DISTINCT account FROM intent
  WHERE ${IS_WAITING} AND kind IN ('suspend', 'release') AND account IS NOT NULL`)
const HOLD = statement(
  (sql) =>
    `UPDATE intent SET held_until = :until, tries = :tries FROM ${sql.items(KEY)} WHERE ${IS_KEY}`,
)
const HOLD_ISSUES = statement(
  `UPDATE intent SET held_until = :until WHERE ${IS_WAITING} AND kind = 'issue'`,
)
const FREE_ISSUES = statement(`
  UPDATE intent SET held_until = NULL
  WHERE ${IS_WAITING} AND kind = 'issue' AND held_until IS NOT NULL`)
const TAKE_OVER = statement(
  (sql) => `
    UPDATE intent SET account = NULL
    WHERE plan IS NULL AND account IS NOT NULL AND NOT (${sql.isIn('account', 'own', 'bytes')})`,
)

export function createBacklog(database: Database): Backlog {
  return {
    async next(account, { now, limit }) {
      const rows = await database.read(SELECT_NEXT, { account: fromHex(account), now, limit })
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
    async hold(intents, tries, until) {
      await database.change(HOLD, { tries, until }, keysOf(intents))
    },
    async holdIssues(until) {
      await database.change(until === null ? FREE_ISSUES : HOLD_ISSUES, { until })
    },
    async takeOver(own) {
      await database.change(TAKE_OVER, { own: own.map(fromHex) })
    },
    resolve: (settled) =>
      database.write(function* () {
        yield* lockOutcomes()
        yield* writeOutcome(settled)
      }),
  }
}

function waitingOf(row: Row) {
  return {
    intent: intentOf(row),
    id: Number(row.id),
    tries: Number(row.tries),
    wasCarried: row.transaction_hash !== null,
  }
}

const SELECT_NEWEST = statement('SELECT coalesce(max(id), 0) AS id FROM intent')
const SELECT_PAYLOADS = statement(`
  SELECT id, document_hash, sealed FROM intent
  WHERE sealed IS NOT NULL AND id > :last AND id <= :newest ORDER BY id LIMIT ${MAX_PAYLOADS}`)

export function createPromisedPayloads(database: Database): PromisedPayloads {
  return {
    async *payloads() {
      // Later intents have only just put their payloads in the store.
      const [newest] = await database.read(SELECT_NEWEST)
      for (let last = 0; ; ) {
        const rows = await database.read(SELECT_PAYLOADS, { last, newest: newest?.id })
        if (rows.length === 0) return
        yield rows.map(({ document_hash, sealed }) => ({
          documentHash: hexOf(document_hash),
          sealed: sealed as Uint8Array,
        }))
        last = Number(rows.at(-1)?.id)
      }
    },
  }
}
