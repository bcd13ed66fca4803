import { fromHex, type Hex } from '#document/hex.ts'
import type { Intent } from '#promise/intent.ts'
import type { Backlog, BusyAccounts, PromisedPayloads, SharedBacklog } from '#promise/ports.ts'
import { type Database, lockOutcomes } from '../database.ts'
import { INTENT_COLUMNS, IS_KEY, intentOf, KEY, keysOf, waitsForIssue } from '../intents.ts'
import { OUTBOX_CHANNEL } from '../outcomes.ts'
import { all, hexOf, notify, numberOrNull, statement } from '../sql.ts'
import type { Fresh } from './requests.ts'
import { writeOutcome } from './settle.ts'

/** Payloads in one read, some kilobytes each. */
const MAX_PAYLOADS = 200

const WAITS = waitsForIssue('intent', ':account')
const SELECT_ALL = statement(`
  SELECT ${INTENT_COLUMNS}, aside_until, tries FROM intent
  WHERE plan IS NULL AND block_number IS NULL ORDER BY id`)
const SELECT_OWN = statement(`
  SELECT ${INTENT_COLUMNS}, aside_until, tries FROM intent
  WHERE plan IS NULL AND block_number IS NULL AND account = :account AND NOT ${WAITS} ORDER BY id`)
const SET_ASIDE = statement(
  (sql) =>
    `UPDATE intent SET aside_until = :until, tries = :tries FROM ${sql.items(KEY)} WHERE ${IS_KEY}`,
)

/** @param account The account of the intents; absent = all accounts. */
export function createBacklog(database: Database, fresh: Fresh, account?: Hex): Backlog {
  return {
    async queued() {
      fresh.forget()
      const rows = await (account
        ? database.read(SELECT_OWN, { account: fromHex(account) })
        : database.read(SELECT_ALL))
      return rows.map((row) => ({
        intent: intentOf(row),
        asideUntil: numberOrNull(row.aside_until),
        tries: Number(row.tries),
        wasCarried: row.transaction_hash !== null,
      }))
    },
    async setAside(intents, tries, until) {
      await database.change(SET_ASIDE, { tries, until }, keysOf(intents))
    },
    resolve: (settled) =>
      database.write(function* () {
        yield* lockOutcomes()
        yield* writeOutcome(settled)
      }),
  }
}

/** A condition of the table `intent`. */
const IS_UNCLAIMED =
  'intent.account IS NULL AND intent.plan IS NULL AND intent.block_number IS NULL'
const HAS_UNCLAIMED = statement(`SELECT 1 FROM intent WHERE ${IS_UNCLAIMED} LIMIT 1`)
const claimOf = (which: string) =>
  statement(
    (sql) => `
      UPDATE intent SET account = :account WHERE id IN (
        SELECT id FROM intent WHERE ${IS_UNCLAIMED} AND ${which}
        ORDER BY id LIMIT :limit ${sql.skipLocked})
      RETURNING ${INTENT_COLUMNS}`,
  )
const CLAIM = claimOf(`NOT ${WAITS}`)
const CLAIM_REVISIONS = claimOf(`kind <> 'issue' AND EXISTS (
  SELECT 1 FROM intent AS issue WHERE issue.kind = 'issue' AND issue.account = :account
  AND issue.document_hash = coalesce(intent.root, intent.document_hash))`)
const DISCLAIM = statement(`
  UPDATE intent SET account = NULL
  WHERE account = :account AND plan IS NULL AND block_number IS NULL
    AND (transaction_hash IS NULL OR kind IN ('issue', 'revoke'))`)

const ADOPT = statement(
  'UPDATE intent SET account = :account WHERE account <> :account AND plan IS NULL',
)

/** @param database A database that is fenced by the lease of the account. */
export function createSharedBacklog(database: Database, account: Hex): SharedBacklog {
  const own = fromHex(account)

  async function claim(which: typeof CLAIM, limit: number): Promise<Intent[]> {
    if ((await database.read(HAS_UNCLAIMED)).length === 0) return []
    const rows = await database.change(which, { account: own, limit })
    return rows.sort((a, b) => Number(a.id) - Number(b.id)).map(intentOf)
  }

  return {
    claim: (limit) => claim(CLAIM, limit),
    claimRevisions: (limit) => claim(CLAIM_REVISIONS, limit),
    disclaim: () =>
      database.write(function* () {
        yield* all(DISCLAIM, { account: own })
        yield* notify(OUTBOX_CHANNEL)
      }),
    async adopt() {
      await database.change(ADOPT, { account: own })
    },
  }
}

const SELECT_BUSY = statement(`
  SELECT account FROM plan WHERE account IS NOT NULL
  UNION
  SELECT account FROM intent
  WHERE account IS NOT NULL AND plan IS NULL AND block_number IS NULL
  UNION
  SELECT issue.account FROM intent
    JOIN intent AS issue ON issue.document_hash = coalesce(intent.root, intent.document_hash)
  WHERE ${IS_UNCLAIMED} AND intent.kind <> 'issue' AND issue.kind = 'issue'
    AND issue.account IS NOT NULL`)
const COUNT_UNCLAIMED = statement(`
  SELECT count(*) AS count FROM (
    SELECT 1 FROM intent WHERE ${IS_UNCLAIMED} LIMIT :limit) AS unclaimed`)

export function createBusyAccounts(database: Database): BusyAccounts {
  return {
    async busyAccounts() {
      return (await database.read(SELECT_BUSY)).map(({ account }) => hexOf(account))
    },
    async countUnclaimed(limit) {
      const [row] = await database.read(COUNT_UNCLAIMED, { limit })
      return Number(row?.count)
    },
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
