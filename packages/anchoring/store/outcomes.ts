import { fromHex, type Hex } from '#document/hex.ts'
import type { EventType } from '#events/events.ts'
import type { Action } from '#promise/action.ts'
import { type Anchoring, type BlockId, keyOfBlock, UNSEEN } from '#promise/anchoring.ts'
import { isWholeBatch } from '#promise/record.ts'
import type { Tallied } from '#promise/tallies.ts'
import { REVOCATION_REASONS } from '#verifier/reasons.ts'
import { bytesOf, each, first, notify, statement, type Work } from './sql.ts'
import { insertItems, KEPT_STATUSES } from './tables.ts'
import { tally } from './tallies.ts'

// What follows when a document, batch or change gets into a block, or leaves one: events, statuses
// and counts, always in the transaction that writes where it is.

/** Notified when something waits for the gateway that leads. */
export const WAITING_CHANNEL = 'docreg_waiting'
/** Notified when outcomes were written. */
export const OUTCOME_CHANNEL = 'docreg_outcome'

/** An action that was in a block, or is now. */
export type Step = {
  action: Action
  before: BlockId | null
  /** `reason`: that of the chain, if it is not the action's. */
  after: Anchoring | null
  /** Whether it gets into a block for the first time, and so is counted. */
  isFirst: boolean
}

type NewEvent = {
  type: EventType
  hash: Hex
  place: Anchoring | null
  tenant: string | null
  /** Whether somebody else may have issued the document or batch. */
  hasOwner: boolean
}

/** Of each block an event; learning a block's hash is none. */
export function isEvent({ before, after }: Step): boolean {
  if (!after) return false
  return (
    before?.blockNumber !== after.blockNumber ||
    (before.blockHash !== UNSEEN && keyOfBlock(before) !== keyOfBlock(after))
  )
}

/** @returns What a step counts as. */
export function countedAs({ action, before, after, isFirst }: Step): Tallied | undefined {
  if (before || !after || !isFirst) return undefined
  if (action.kind === 'issue') return 'issued'
  if (action.kind !== 'revoke') return undefined
  return isSuperseded(action, after) ? 'superseded' : 'revoked'
}

/** @returns The status of a document after a change of it, and whether it is not a final one. */
export function statusAfter(
  action: Action,
  after: Anchoring | null,
): { status: number; isHold: boolean } {
  if (action.kind === 'revoke') {
    const status = isSuperseded(action, after) ? 'superseded' : 'revoked'
    return { status: KEPT_STATUSES.indexOf(after ? status : null), isHold: false }
  }
  const isSuspended = (action.kind === 'suspend') === (after !== null)
  return { status: KEPT_STATUSES.indexOf(isSuspended ? 'suspended' : null), isHold: true }
}

/** @returns The event of an action that got into a block. */
export function eventOf({ action, after }: Pick<Step, 'action' | 'after'>): NewEvent {
  const { kind, documentHash: hash, tenant = null } = action
  const what = isSuperseded(action, after) ? 'supersede' : kind
  return {
    type: EVENT_OF[what][isWholeBatch(action) ? 'batch' : 'document'],
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

const isSuperseded = (action: Action, after: Anchoring | null) =>
  action.kind === 'revoke' && (after?.reason ?? action.reason) === REVOCATION_REASONS.superseded

/** @returns The event of a document or batch that is final, or can never be issued. */
export function endOf(action: Action, end: 'final' | 'failed', place: Anchoring | null): NewEvent {
  const { documentHash: hash, tenant = null } = action
  return {
    type: EVENT_OF[end][isWholeBatch(action) ? 'batch' : 'document'],
    hash,
    place,
    tenant,
    hasOwner: false,
  }
}

const STATUS_ITEM = { hash: 'bytes', status: 'integer', hold: 'flag' } as const
const setStatus = (table: string, hash: string) =>
  statement(
    (sql) => `
      UPDATE ${table}
      SET status = CASE WHEN item.hold AND ${table}.status > 1 THEN ${table}.status
        ELSE item.status END
      FROM ${sql.items(STATUS_ITEM)} WHERE ${table}.${hash} = item.hash`,
  )
const SET_DOCUMENT_STATUS = setStatus('record', 'hash')
const SET_BATCH_STATUS = setStatus('batch', 'root')

/** Writes what follows from steps. For use under the lock of outcomes. */
export function* follow(steps: readonly Step[]): Work<void> {
  if (steps.length === 0) return
  yield* setStatuses(
    steps.filter(
      ({ before, after }) => !(before && after && keyOfBlock(before) === keyOfBlock(after)),
    ),
  )
  yield* tally(
    steps.flatMap((step) => {
      const kind = countedAs(step)
      return kind ? [{ action: step.action, kind }] : []
    }),
  )
  yield* appendEvents(steps.filter(isEvent).map(eventOf))
  yield* notify(OUTCOME_CHANNEL)
}

function* setStatuses(steps: readonly Step[]): Work<void> {
  for (const isBatch of [false, true])
    yield* each(
      isBatch ? SET_BATCH_STATUS : SET_DOCUMENT_STATUS,
      steps
        .filter(({ action }) => action.kind !== 'issue' && isWholeBatch(action) === isBatch)
        .map(({ action, after }) => {
          const { status, isHold } = statusAfter(action, after)
          return { hash: fromHex(action.documentHash), status, hold: isHold }
        }),
    )
}

const EVENT_ITEM = 'type, document_hash, block_number, block_hash, transaction_hash'
/** The time never falls: ids rise with it. */
const INSERT_EVENT = statement(
  (sql) => `
    ${insertItems(sql, 'event', EVENT_ITEM, {
      computed: {
        time: sql.larger(sql.nowMs, ':last'),
        tenant: `CASE WHEN item.owned THEN coalesce(
            (SELECT record.tenant FROM record WHERE record.hash = item.document_hash
              AND record.tenant IS NOT NULL LIMIT 1),
            (SELECT nullif(batch.tenant, '') FROM batch WHERE batch.root = item.document_hash),
            item.tenant)
          ELSE item.tenant END`,
      },
      more: { owned: 'flag', tenant: 'text' },
    })} WHERE true ORDER BY place`,
)
const LAST_TIME = statement('SELECT time FROM event ORDER BY id DESC LIMIT 1')

/** Adds events to the log. */
export function* appendEvents(events: readonly NewEvent[]): Work<void> {
  if (events.length === 0) return
  const last = yield* first(LAST_TIME)
  yield* each(
    INSERT_EVENT,
    events.map(({ type, hash, place, tenant, hasOwner }) => ({
      type,
      document_hash: fromHex(hash),
      block_number: place?.blockNumber ?? null,
      block_hash: place && place.blockHash !== UNSEEN ? fromHex(place.blockHash) : null,
      transaction_hash: bytesOf(place?.transactionHash),
      tenant,
      owned: hasOwner,
    })),
    { last: Number(last?.time ?? 0) },
  )
}
