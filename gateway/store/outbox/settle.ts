import { fromHex } from '#document/hex.ts'
import type { Anchored, Anchoring, BlockId, SettledIntents } from '#promise/anchoring.ts'
import { type Intent, keyOfIntent } from '#promise/intent.ts'
import { bytesOf, isSet } from '../columns.ts'
import {
  blockOf,
  deleteBy,
  INTENT_COLUMNS,
  IS_KEY,
  intentOf,
  KEY,
  keysOf,
  SELECT_BY_KEY,
} from '../intents.ts'
import { type Change, followChanges, followGone } from '../outcomes.ts'
import { all, each, type Row, statement, type Work } from '../sql.ts'
import { addBlocks, deleteEmptyBlocks } from './blocks.ts'

/**
 * Writes what the chain shows about intents. Call this under the lock of outcomes.
 *
 * @param plan The id of the plan that carries them all, if there is one.
 */
export function* writeOutcome({ anchored, gone }: SettledIntents, plan?: number): Work<void> {
  yield* anchor(anchored, plan)
  yield* deleteUndone(anchored)
  yield* deleteGone(gone)
}

const PLACE = {
  ...KEY,
  block: 'integer',
  block_hash: 'bytes',
  transaction_hash: 'bytes',
} as const
const ANCHOR = statement(
  (sql) => `
    UPDATE intent SET plan = NULL, block_number = item.block, block_hash = item.block_hash,
      transaction_hash = item.transaction_hash
    FROM ${sql.items(PLACE)} WHERE ${IS_KEY}`,
)
const SELECT_OF_PLAN = statement(
  (sql) =>
    `SELECT ${INTENT_COLUMNS} FROM intent WHERE plan = :plan ORDER BY id ${sql.forUpdate('intent')}`,
)
const ANCHOR_PLAN = statement(`
  UPDATE intent SET plan = NULL, block_number = :block, block_hash = :block_hash,
    transaction_hash = :transaction_hash
  WHERE plan = :plan`)

/** Records the blocks of intents. */
export function* anchor(anchored: readonly Anchored[], plan?: number): Work<void> {
  if (anchored.length === 0) return
  yield* addBlocks(anchored.map(({ anchoring }) => anchoring))
  const shared = plan === undefined ? undefined : sharedPlace(anchored)
  const rows = shared
    ? yield* all(SELECT_OF_PLAN, { plan })
    : yield* each(SELECT_BY_KEY, keysOf(anchored.map(({ intent }) => intent)))
  if (shared && rows.length === anchored.length)
    // This is the usual case: all intents of a transaction, in one statement.
    yield* all(ANCHOR_PLAN, { plan, ...valuesOf(shared) })
  else
    yield* each(
      ANCHOR,
      anchored.map(({ intent: { kind, documentHash }, anchoring }) => ({
        ...valuesOf(anchoring),
        kind,
        hash: fromHex(documentHash),
      })),
    )
  yield* followChanges(changesOf(rows, anchored))
}

function valuesOf({ blockNumber, blockHash, transactionHash }: Anchoring) {
  return {
    block: blockNumber,
    block_hash: fromHex(blockHash),
    transaction_hash: bytesOf(transactionHash),
  }
}

/** @returns The place that all share; `undefined` when they do not share one. */
function sharedPlace(anchored: readonly Anchored[]): Anchoring | undefined {
  const [first] = anchored.map(({ anchoring }) => anchoring)
  const isShared = anchored.every(
    ({ anchoring: { blockHash, transactionHash } }) =>
      blockHash === first?.blockHash && transactionHash === first.transactionHash,
  )
  return isShared ? first : undefined
}

/** @param rows The previous state of the intents. Others are no longer in the outbox. */
function changesOf(rows: readonly Row[], anchored: readonly Anchored[]): Change[] {
  const after = new Map(anchored.map(({ intent, anchoring }) => [keyOfIntent(intent), anchoring]))
  return rows.flatMap((row) => {
    const intent = intentOf(row)
    const anchoring = after.get(keyOfIntent(intent))
    return anchoring ? [{ intent, before: placeOf(row), after: anchoring }] : []
  })
}

/** @returns The block of an intent; `null` for one that waits. */
export function placeOf(row: Row): BlockId | null {
  return row.block_number === null ? null : blockOf(row)
}

const DELETE_UNDONE = statement(
  (sql) => `
    DELETE FROM intent WHERE kind = :kind AND block_number IS NOT NULL
      AND ${sql.isIn('document_hash', 'hashes', 'bytes')}
    RETURNING block_number, block_hash`,
)

/** Deletes the anchored suspensions and releases that newly anchored ones have undone. */
function* deleteUndone(anchored: readonly Anchored[]): Work<void> {
  for (const [kind, undone] of [
    ['suspend', 'release'],
    ['release', 'suspend'],
  ]) {
    const hashes = anchored
      .filter(({ intent }) => intent.kind === kind)
      .map(({ intent }) => fromHex(intent.documentHash))
    if (hashes.length === 0) continue
    const rows = yield* all(DELETE_UNDONE, { kind: undone, hashes })
    yield* deleteEmptyBlocks(rows.map(blockOf))
  }
}

const DELETE = statement((sql) => `${deleteBy(sql, KEY, IS_KEY)} RETURNING ${INTENT_COLUMNS}`)

function* deleteGone(gone: readonly Intent[]): Work<void> {
  const rows = yield* each(DELETE, keysOf(gone))
  const waiting = rows.filter(({ block_number }) => block_number === null)
  yield* followGone(
    waiting.map((row) => ({
      intent: intentOf(row),
      failed: isSet(row.promised) || row.transaction_hash !== null,
    })),
  )
}
