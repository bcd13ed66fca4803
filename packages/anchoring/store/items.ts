import type { Action } from '#promise/action.ts'
import type { Anchoring, BlockId } from '#promise/anchoring.ts'
import type { Member } from '#promise/send.ts'
import { hexOf, hexOrNull, isSet, numberOrNull, type Row } from './sql.ts'

// A row of `waiting` or `member` names a record, a batch or a change. This reads which, with what
// the chain needs to know.

/** A row of `waiting` or `member`, and what it names: one of the three ids is not null. */
export type Item = Member & {
  record: number | null
  batch: number | null
  change: number | null
  /** Whether it was in a block before, and counted. */
  counted: boolean
}

/** @param table `waiting` or `member`. @returns The joins that {@link itemColumns} need. */
export const itemJoins = (table: string) => `
  LEFT JOIN record ON record.id = ${table}.record
  LEFT JOIN batch ON batch.id = ${table}.batch
  LEFT JOIN change ON change.id = ${table}.change`

const NAMED = `coalesce(change.kind, 'issue') AS kind,
  coalesce(record.hash, batch.root, change.hash) AS hash,
  coalesce(batch.root, change.root) AS root,
  coalesce(record.valid_until, batch.size) AS valid_until,
  batch.manifest AS manifest, change.reason AS reason,
  coalesce(record.tenant, batch.tenant, change.tenant) AS tenant`

/** @returns The columns that {@link itemOf} reads. */
export const itemColumns = (table: 'waiting' | 'member') => `
  ${table}.${table === 'waiting' ? 'id' : 'place'} AS place,
  ${table}.record, ${table}.batch, ${table}.change, ${table}.counted, ${NAMED}`

/** The columns of actions that {@link actionOf} reads, where no item names them. */
export const RECORD_COLUMNS = `'issue' AS kind, record.hash AS hash, NULL AS root,
  record.valid_until AS valid_until, NULL AS manifest, NULL AS reason, record.tenant AS tenant`
export const BATCH_COLUMNS = `'issue' AS kind, batch.root AS hash, batch.root AS root,
  batch.size AS valid_until, batch.manifest AS manifest, NULL AS reason, batch.tenant AS tenant`
export const CHANGE_COLUMNS = `change.kind AS kind, change.hash AS hash, change.root AS root,
  NULL AS valid_until, NULL AS manifest, change.reason AS reason, change.tenant AS tenant`

export function itemOf(row: Row): Item {
  return {
    action: actionOf(row),
    place: Number(row.place),
    record: numberOrNull(row.record),
    batch: numberOrNull(row.batch),
    change: numberOrNull(row.change),
    counted: isSet(row.counted),
  }
}

export function actionOf(row: Row): Action {
  const kind = row.kind as Action['kind']
  const key = {
    documentHash: hexOf(row.hash),
    ...(row.root !== null && { root: hexOf(row.root) }),
    ...(row.tenant !== null && row.tenant !== '' && { tenant: String(row.tenant) }),
  }
  if (kind === 'revoke') return { kind, ...key, reason: Number(row.reason) }
  if (kind !== 'issue') return { kind, ...key }
  const manifest = hexOrNull(row.manifest)
  return { kind, ...key, validUntil: Number(row.valid_until), ...(manifest && { manifest }) }
}

/** @param row Columns of the table `send`. */
export function blockOf(row: Row): BlockId {
  return { blockNumber: Number(row.block_number), blockHash: hexOf(row.block_hash) }
}

/** @param row Columns of the table `send`, in a block. */
export function anchoringOf(row: Row): Anchoring {
  return { ...blockOf(row), transactionHash: hexOrNull(row.transaction_hash) }
}
