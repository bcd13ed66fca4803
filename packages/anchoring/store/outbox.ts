import { fromHex } from '#document/hex.ts'
import { type Action, keyOf, keyOfAction } from '#promise/action.ts'
import type { Found } from '#promise/anchoring.ts'
import type {
  Added,
  FeeLog,
  Guarding,
  Outbox,
  OutboxPorts,
  Queue,
  Sends,
  SentBlocks,
} from '#promise/ports.ts'
import { insertChanges, isUndone, type NewChange } from './changes.ts'
import { type Database, lockOutcomes } from './database.ts'
import { actionOf, anchoringOf, BATCH_COLUMNS, CHANGE_COLUMNS, RECORD_COLUMNS } from './items.ts'
import { follow } from './outcomes.ts'
import {
  insertIssues,
  insertRecords,
  type NewRecord,
  newRowOf,
  withoutConflicts,
} from './records.ts'
import { createFeeLog, createSends } from './sends/in-flight.ts'
import { createSentBlocks } from './sends/watch.ts'
import { placeRecords } from './sends/write.ts'
import { each, hexOf, hexOrNull, type Row, statement } from './sql.ts'
import { createQueue } from './waiting.ts'

/** What the gateway that leads reads and writes through its session. */
export type LeaderOutbox = Queue & Sends & FeeLog & SentBlocks

/** What requests write and read; see the ports. */
export function createOutbox(database: Database): OutboxPorts {
  const addIssue = database.together<NewRecord, Added>({
    work: insertIssues,
    idOf: ({ action }) => action.documentHash,
  })
  const addChange = database.together<NewChange, boolean>({
    work: insertChanges,
    idOf: ({ action }) => action.documentHash,
  })
  return {
    async add(action, { payload = {}, changedBlock = 0 } = {}) {
      if (action.kind !== 'issue') return addChange({ action, changedBlock })
      return addIssue({ action, ...payload })
    },
    find: createFind(database),
    ...createGuarding(database),
  }
}

/** @param database The database through the session of the gateway that leads. */
export function createLeaderOutbox(database: Database): LeaderOutbox {
  return {
    ...createQueue(database),
    ...createSends(database),
    ...createFeeLog(database),
    ...createSentBlocks(database),
  }
}

const HASH = { hash: 'bytes' } as const
const KEY = { ...HASH, kind: 'text' } as const
/** The send that carries a row, or that it waits. */
const joins = (column: 'record' | 'batch' | 'change') => `
  LEFT JOIN waiting ON waiting.${column} = ${column}.id
  LEFT JOIN member ON member.${column} = ${column}.id
  LEFT JOIN send ON send.id = member.send`
const STATE = `send.block_number AS block_number, send.block_hash AS block_hash,
  coalesce(send.transaction_hash, (
    SELECT attempt.hash FROM attempt
    WHERE attempt.send = send.id AND send.block_number IS NULL
    ORDER BY attempt.id DESC LIMIT 1)) AS transaction_hash`
const IS_OPEN = '(waiting.id IS NOT NULL OR (send.id IS NOT NULL AND NOT send.final))'
const FIND_RECORD = statement(
  (sql) => `
    SELECT ${RECORD_COLUMNS}, ${STATE} FROM ${sql.items(HASH)} JOIN record
      ON record.hash = item.hash AND record.batch IS NULL
    ${joins('record')} WHERE ${IS_OPEN}`,
)
const FIND_BATCH = statement(
  (sql) => `
    SELECT ${BATCH_COLUMNS}, ${STATE} FROM ${sql.items(HASH)} JOIN batch ON batch.root = item.hash
    ${joins('batch')} WHERE ${IS_OPEN}`,
)
// The last one counts: those before it were undone.
const FIND_CHANGE = statement(
  (sql) => `
    SELECT ${CHANGE_COLUMNS}, ${STATE} FROM ${sql.items(KEY)} JOIN change
      ON change.hash = item.hash AND change.kind = item.kind
    ${joins('change')} WHERE ${IS_OPEN} AND NOT ${isUndone('change')} ORDER BY change.id`,
)

function createFind(database: Database): Outbox['find'] {
  type Key = { kind: Action['kind']; hash: Uint8Array }
  const find = database.together<Key, Found | undefined>({
    *work(keys) {
      const isIssue = ({ kind }: Key) => kind === 'issue'
      const issues = keys.filter(isIssue)
      const rows = [
        ...(yield* each(FIND_RECORD, issues)),
        ...(yield* each(FIND_BATCH, issues)),
        ...(yield* each(
          FIND_CHANGE,
          keys.filter((key) => !isIssue(key)),
        )),
      ]
      const found = new Map(rows.map(foundOf).map((found) => [keyOfAction(found.action), found]))
      return keys.map(({ kind, hash }) => found.get(keyOf(kind, hexOf(hash))))
    },
    reads: true,
  })
  return (kind, documentHash) => find({ kind, hash: fromHex(documentHash) })
}

function foundOf(row: Row): Found {
  return {
    action: actionOf(row),
    outcome:
      row.block_number === null
        ? { status: 'pending', transactionHash: hexOrNull(row.transaction_hash) }
        : { status: 'anchored', ...anchoringOf(row) },
  }
}

function createGuarding(database: Database): Guarding {
  return {
    guard: (action, anchoring, { entry } = {}) =>
      database.write(function* () {
        yield* lockOutcomes()
        const { documentHash } = action
        const record = yield* withoutConflicts({ action, entry })
        const added = yield* insertRecords([newRowOf(record)])
        if (!added.has(documentHash)) return
        yield* placeRecords([documentHash], anchoring)
        yield* follow([{ action, before: null, after: anchoring, isFirst: false }])
      }),
  }
}
