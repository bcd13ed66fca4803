import { fromHex, type Hex } from '#document/hex.ts'
import type { EventType } from '#events/events.ts'
import { type Anchoring, type BlockId, keyOfBlock, UNSEEN } from '#promise/anchoring.ts'
import type { Intent } from '#promise/intent.ts'
import type { Tallied } from '#promise/tallies.ts'
import { REVOCATION_REASONS } from '#verifier/reasons.ts'
import {
  all,
  bytesOf,
  each,
  first,
  hexOf,
  notify,
  numberOrNull,
  type Row,
  statement,
  type Values,
  type Work,
} from './sql.ts'
import { insertItems, KEPT_STATUSES } from './tables.ts'
import { tally } from './tallies.ts'

// What follows when an intent gets into a block, leaves one, or can never be anchored: events,
// history, index and successions, always in the transaction that changes the intent.

/** Notified when something waits for the gateway that leads. */
export const WAITING_CHANNEL = 'docreg_waiting'
/** Notified when outcomes were written. */
export const OUTCOME_CHANNEL = 'docreg_outcome'

/** An intent that was in a block, or is now. */
export type Change = {
  intent: Intent
  before: BlockId | null
  /** `reason`: that of the chain, if it is not the intent's. */
  after: Anchoring | null
}

/** What is written for changes. */
export type FollowUps = {
  /** Places in the history that are no longer true. */
  left: { hash: Hex; block: number; isBatch: boolean }[]
  entered: { hash: Hex; place: Anchoring; isBatch: boolean }[]
  /** New blocks of documents and batches. */
  moved: { hash: Hex; block: number | null; isBatch: boolean }[]
  /** `isHold`: not over a final revocation. */
  statuses: { hash: Hex; status: number; isHold: boolean; isBatch: boolean }[]
  /** Successors that are on the chain now: their predecessors are to be revoked. */
  successors: { hash: Hex; tenant: string | null }[]
  /** Documents whose revocation is on the chain, or is not any more. */
  revoked: { hash: Hex; isRevoked: boolean }[]
  /** Documents and batches that are to be counted. */
  counted: { intent: Intent; kind: Tallied }[]
  events: NewEvent[]
}

type NewEvent = {
  type: EventType
  hash: Hex
  place: Anchoring | null
  tenant: string | null
  /** Whether somebody else may have issued the document or batch. */
  hasOwner: boolean
}

/** @returns What follows from changes of intents, in their order. */
export function followUpsOf(changes: readonly Change[]): FollowUps {
  const found: FollowUps = {
    left: [],
    entered: [],
    moved: [],
    statuses: [],
    successors: [],
    revoked: [],
    counted: [],
    events: [],
  }
  for (const change of changes) {
    if (change.intent.kind === 'issue') followIssue(change, found)
    else followRevision(change, found)
    if (isEvent(change)) found.events.push(eventOf(change))
    const kind = countedAs(change)
    if (kind) found.counted.push({ intent: change.intent, kind })
  }
  return found
}

function followIssue({ intent, before, after }: Change, found: FollowUps): void {
  const { documentHash: hash, tenant = null } = intent
  const isBatch = isOfBatch(intent)
  const hasMoved = before?.blockNumber !== after?.blockNumber
  if (before && hasMoved) found.left.push({ hash, block: before.blockNumber, isBatch })
  if (after) found.entered.push({ hash, place: after, isBatch })
  if (hasMoved) found.moved.push({ hash, block: after?.blockNumber ?? null, isBatch })
  if (!before && after) found.successors.push({ hash, tenant })
}

function followRevision({ intent, before, after }: Change, found: FollowUps): void {
  if (before?.blockNumber === after?.blockNumber) return
  const { documentHash: hash } = intent
  const isBatch = isOfBatch(intent)
  found.statuses.push({ hash, isBatch, ...statusAfter(intent, after) })
  if (intent.kind === 'revoke') found.revoked.push({ hash, isRevoked: after !== null })
}

/** @returns The status of a document after a change of it; see `KEPT_STATUSES`. */
function statusAfter(intent: Intent, after: Anchoring | null): { status: number; isHold: boolean } {
  if (intent.kind === 'revoke') {
    const status = isSuperseded(intent, after) ? 'superseded' : 'revoked'
    return { status: KEPT_STATUSES.indexOf(after ? status : null), isHold: false }
  }
  const isSuspended = (intent.kind === 'suspend') === (after !== null)
  return { status: KEPT_STATUSES.indexOf(isSuspended ? 'suspended' : null), isHold: true }
}

/** A move to another block counts once. */
function countedAs({ intent, before, after }: Change): Tallied | undefined {
  if (before || !after) return undefined
  if (intent.kind === 'issue') return 'issued'
  if (intent.kind !== 'revoke') return undefined
  return isSuperseded(intent, after) ? 'superseded' : 'revoked'
}

/** Of each block an event; learning a block's hash is none. */
function isEvent({ before, after }: Change): boolean {
  if (!after) return false
  return (
    before?.blockNumber !== after.blockNumber ||
    (before.blockHash !== UNSEEN && keyOfBlock(before) !== keyOfBlock(after))
  )
}

/** @returns The event of an intent that got into a block. */
export function eventOf({ intent, after }: Change): NewEvent {
  const { kind, documentHash: hash, tenant = null } = intent
  const what = isSuperseded(intent, after) ? 'supersede' : kind
  return {
    type: EVENT_OF[what][isOfBatch(intent) ? 'batch' : 'document'],
    hash,
    place: after,
    tenant,
    hasOwner: kind !== 'issue',
  }
}

/** The event of what can happen to a document or a batch. */
const EVENT_OF = {
  issue: { document: 'document.issued', batch: 'batch.issued' },
  revoke: { document: 'document.revoked', batch: 'batch.revoked' },
  supersede: { document: 'document.superseded', batch: 'batch.superseded' },
  suspend: { document: 'document.suspended', batch: 'batch.suspended' },
  release: { document: 'document.released', batch: 'batch.released' },
  final: { document: 'document.final', batch: 'batch.final' },
  failed: { document: 'document.failed', batch: 'batch.failed' },
} as const satisfies Record<string, Record<'document' | 'batch', EventType>>

const isOfBatch = ({ root, documentHash }: Intent) => root === documentHash

const isSuperseded = (intent: Intent, after: Anchoring | null) =>
  intent.kind === 'revoke' && (after?.reason ?? intent.reason) === REVOCATION_REASONS.superseded

/** @returns An event of an intent to issue that is final, or failed. */
export function endOf(intent: Intent, end: 'final' | 'failed', place: Anchoring | null): NewEvent {
  const { documentHash: hash, tenant = null } = intent
  return {
    type: EVENT_OF[end][isOfBatch(intent) ? 'batch' : 'document'],
    hash,
    place,
    tenant,
    hasOwner: false,
  }
}

const historyStatements = (table: string, hash: string) => ({
  remove: statement(
    (sql) => `
      DELETE FROM ${table} WHERE (block_number, ${hash}) IN (
        SELECT item.block, item.hash FROM ${sql.items({ hash: 'bytes', block: 'integer' })})`,
  ),
  add: statement(
    (sql) => `
      ${insertItems(sql, table, 'block_number, transaction_hash', {
        computed: { [hash]: 'item.hash' },
        more: { hash: 'bytes' },
      })} WHERE true
      ON CONFLICT (block_number, ${hash})
        DO UPDATE SET transaction_hash = excluded.transaction_hash`,
  ),
})
const DOCUMENT_HISTORY = historyStatements('history', 'document_hash')
const BATCH_HISTORY = historyStatements('batch_history', 'root')
const historyOf = (isBatch: boolean) => (isBatch ? BATCH_HISTORY : DOCUMENT_HISTORY)

/** Adds to the history where documents, or batches by their roots, are anchored. */
export function* addHistory(
  isBatch: boolean,
  places: readonly { hash: Hex; blockNumber: number; transactionHash: Hex | null }[],
): Work<void> {
  yield* each(
    historyOf(isBatch).add,
    places.map(({ hash, blockNumber, transactionHash }) => ({
      hash: fromHex(hash),
      block_number: blockNumber,
      transaction_hash: bytesOf(transactionHash),
    })),
  )
}

const MOVE_DOCUMENTS = statement(
  (sql) => `
    UPDATE document SET block_number = ${sql.value('block', 'integer')}
    WHERE ${sql.isIn('document_hash', 'hashes', 'bytes')}`,
)
const MOVE_BATCHES = statement(
  (sql) => `
    UPDATE batch SET block_number = ${sql.value('block', 'integer')}
    WHERE ${sql.isIn('root', 'hashes', 'bytes')}`,
)

const STATUS_ITEM = { hash: 'bytes', status: 'integer', hold: 'flag' } as const
const setStatus = (table: string, hash: string) =>
  statement(
    (sql) => `
      UPDATE ${table}
      SET status = CASE WHEN item.hold AND ${table}.status > 1 THEN ${table}.status
        ELSE item.status END
      FROM ${sql.items(STATUS_ITEM)} WHERE ${table}.${hash} = item.hash`,
  )
const SET_DOCUMENT_STATUS = setStatus('document', 'document_hash')
const SET_BATCH_STATUS = setStatus('batch', 'root')

const SELECT_SUCCEEDED = statement(
  (sql) => `
    SELECT successor_hash FROM succession
    WHERE NOT revoked AND ${sql.isIn('successor_hash', 'hashes', 'bytes')}`,
)
const PROMISE_REVOCATIONS = statement(
  (sql) => `
    INSERT INTO intent (kind, document_hash, root, reason, tenant)
    SELECT 'revoke', succession.document_hash, succession.root,
      ${REVOCATION_REASONS.superseded}, item.tenant
    FROM ${sql.items({ hash: 'bytes', tenant: 'text' })}
      JOIN succession ON succession.successor_hash = item.hash
    WHERE NOT succession.revoked
    ON CONFLICT DO NOTHING`,
)
const SET_REVOKED = statement(
  (sql) => `
    UPDATE succession SET revoked = item.revoked
    FROM ${sql.items({ hash: 'bytes', revoked: 'flag' })}
    WHERE succession.document_hash = item.hash`,
)

/** Writes what follows from changes of intents. For use under the lock of outcomes. */
export function* followChanges(changes: readonly Change[]): Work<void> {
  if (changes.length === 0) return
  const { left, entered, moved, statuses, successors, revoked, counted, events } =
    followUpsOf(changes)
  for (const isBatch of [false, true]) {
    const of = <T extends { isBatch: boolean }>(some: readonly T[]) =>
      some.filter((one) => one.isBatch === isBatch)
    yield* each(
      historyOf(isBatch).remove,
      of(left).map(({ hash, block }) => ({ hash: fromHex(hash), block })),
    )
    yield* addHistory(
      isBatch,
      of(entered).map(({ hash, place }) => ({ hash, ...place })),
    )
    for (const [block, some] of Map.groupBy(of(moved), (one) => one.block))
      yield* all(isBatch ? MOVE_BATCHES : MOVE_DOCUMENTS, {
        block,
        hashes: some.map(({ hash }) => fromHex(hash)),
      })
    yield* each(
      isBatch ? SET_BATCH_STATUS : SET_DOCUMENT_STATUS,
      // The status of a document of a batch is its own.
      of(statuses).map(({ hash, status, isHold }) => ({
        hash: fromHex(hash),
        status,
        hold: isHold,
      })),
    )
  }
  yield* promiseRevocations(successors)
  yield* each(
    SET_REVOKED,
    revoked.map(({ hash, isRevoked }) => ({ hash: fromHex(hash), revoked: isRevoked })),
  )
  yield* tally(counted)
  yield* appendEvents(events)
  yield* notify(OUTCOME_CHANNEL)
}

/** Of few documents is there a predecessor. */
function* promiseRevocations(successors: FollowUps['successors']): Work<void> {
  if (successors.length === 0) return
  const hashes = successors.map(({ hash }) => fromHex(hash))
  const found = yield* all(SELECT_SUCCEEDED, { hashes })
  const succeeding = new Set(found.map((row) => hexOf(row.successor_hash)))
  yield* each(
    PROMISE_REVOCATIONS,
    successors
      .filter(({ hash }) => succeeding.has(hash))
      .map(({ hash, tenant }) => ({ hash: fromHex(hash), tenant })),
  )
}

const DELETE_PENDING = statement(
  (sql) => `
    DELETE FROM document WHERE ${sql.isIn('document_hash', 'hashes', 'bytes')}
      AND block_number IS NULL AND batch IS NULL`,
)
const UNPROMISE_BATCHES = statement(
  (sql) => `
    UPDATE batch SET promised = false
    WHERE ${sql.isIn('root', 'hashes', 'bytes')} AND block_number IS NULL`,
)
const DELETE_SUPERSEDING = statement(
  (sql) => `
    DELETE FROM act WHERE kind = 'supersede' AND document_hash IN (
      SELECT document_hash FROM succession
      WHERE ${sql.isIn('successor_hash', 'hashes', 'bytes')} AND NOT revoked)`,
)
const DELETE_SUCCESSIONS = statement(
  (sql) => `
    DELETE FROM succession
    WHERE ${sql.isIn('successor_hash', 'hashes', 'bytes')} AND NOT revoked`,
)

/**
 * Writes what follows when intents leave the outbox that were on the chain never, or not any more.
 * For use under the lock of outcomes.
 */
export function* followGone(gone: readonly Intent[]): Work<void> {
  const issues = gone.filter(({ kind }) => kind === 'issue')
  if (issues.length > 0) {
    const hashes = issues.map(({ documentHash }) => fromHex(documentHash))
    yield* appendEvents(issues.map((intent) => endOf(intent, 'failed', null)))
    yield* all(DELETE_PENDING, { hashes })
    if (issues.some(isOfBatch)) yield* all(UNPROMISE_BATCHES, { hashes })
    yield* all(DELETE_SUPERSEDING, { hashes })
    yield* all(DELETE_SUCCESSIONS, { hashes })
  }
  if (gone.length > 0) yield* notify(OUTCOME_CHANNEL)
}

const EVENT_ITEM = 'type, document_hash, block_number, block_hash, transaction_hash, tenant'
/** The time never falls: ids rise with it. */
const INSERT_EVENT = statement(
  (sql) => `
    ${insertItems(sql, 'event', EVENT_ITEM, {
      computed: {
        time: sql.larger(sql.nowMs, ':last'),
        owner: `CASE WHEN item.owned THEN (
          SELECT owned.tenant FROM document AS owned
          WHERE owned.document_hash = item.document_hash LIMIT 1) ELSE item.owner END`,
      },
      more: { owned: 'flag', owner: 'integer' },
    })} WHERE true ORDER BY place`,
)
const LAST_TIME = statement('SELECT time FROM event ORDER BY id DESC LIMIT 1')

/** Adds events to the log. */
export function* appendEvents(events: readonly NewEvent[]): Work<void> {
  if (events.length === 0) return
  const last = yield* first(LAST_TIME)
  const rows: Values[] = []
  for (const { type, hash, place, tenant, hasOwner } of events) {
    const isBatch = type.startsWith('batch.')
    rows.push({
      type,
      document_hash: fromHex(hash),
      block_number: place?.blockNumber ?? null,
      block_hash: place && place.blockHash !== UNSEEN ? fromHex(place.blockHash) : null,
      transaction_hash: bytesOf(place?.transactionHash),
      tenant,
      owned: hasOwner && !isBatch,
      owner: hasOwner && isBatch ? yield* ownerOfBatch(hash) : null,
    })
  }
  yield* each(INSERT_EVENT, rows, { last: Number(last?.time ?? 0) })
}

const BATCH_ID = statement('SELECT id FROM batch WHERE root = :root')
// Only `document_by_batch` has this order. With an equality, PostgreSQL may read the rows of other
// batches until it meets one of this batch.
const NEWEST_OF_BATCH = statement(`
  SELECT batch, CAST(tenant AS text) AS tenant FROM document WHERE batch <= :id
  ORDER BY batch DESC, id DESC LIMIT 1`)

/**
 * @returns The blind index of the tenant that issued a batch: all its documents are of one tenant,
 * and the newest row is of the newest index.
 */
function* ownerOfBatch(root: Hex): Work<bigint | null> {
  const batch = yield* first(BATCH_ID, { root: fromHex(root) })
  if (!batch) return null
  const newest: Row | undefined = yield* first(NEWEST_OF_BATCH, { id: batch.id })
  if (!newest || numberOrNull(newest.batch) !== batch.id || newest.tenant === null) return null
  return BigInt(String(newest.tenant))
}
