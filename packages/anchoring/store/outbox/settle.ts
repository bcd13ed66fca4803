import { fromHex } from '#document/hex.ts'
import {
  type Anchored,
  type Anchoring,
  type BlockId,
  keyOfBlock,
  type SettledIntents,
} from '#promise/anchoring.ts'
import { type Intent, keyOf, keyOfIntent } from '#promise/intent.ts'
import type { Plan } from '#promise/plan.ts'
import type { AnchorBlocks } from '#promise/ports.ts'
import type { Database } from '../database.ts'
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
import { all, bytesOf, each, hexOf, type Row, statement, type Values, type Work } from '../sql.ts'

/**
 * Writes what the chain shows about intents. Call this under the lock of outcomes.
 *
 * @param plan The plan that carries them, if one does.
 */
export function* writeOutcome({ anchored, gone }: SettledIntents, plan?: Plan): Work<void> {
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
const ANCHOR_PLAN = statement(`
  UPDATE intent SET plan = NULL, block_number = :block, block_hash = :block_hash,
    transaction_hash = :transaction_hash
  WHERE plan = :plan RETURNING kind, document_hash`)

/** Notes the blocks of intents. */
export function* anchor(anchored: readonly Anchored[], plan?: Plan): Work<void> {
  if (anchored.length === 0) return
  yield* addBlocks(anchored.map(({ anchoring }) => anchoring))
  const shared = plan && sharedPlace(anchored, plan)
  yield* followChanges(
    shared ? yield* anchorPlan(anchored, plan, shared) : yield* anchorEach(anchored),
  )
}

/** Most often: all intents of a transaction, in one statement. They were in no block. */
function* anchorPlan(anchored: readonly Anchored[], plan: Plan, place: Anchoring): Work<Change[]> {
  const rows = yield* all(ANCHOR_PLAN, { plan: plan.id, ...valuesOf(place) })
  const found = new Set(
    rows.map((row) => keyOf(row.kind as Intent['kind'], hexOf(row.document_hash))),
  )
  return anchored
    .filter(({ intent }) => found.has(keyOfIntent(intent)))
    .map(({ intent, anchoring }) => ({ intent, before: null, after: anchoring }))
}

function* anchorEach(anchored: readonly Anchored[]): Work<Change[]> {
  const rows = yield* each(SELECT_BY_KEY, keysOf(anchored.map(({ intent }) => intent)))
  yield* each(
    ANCHOR,
    anchored.map(({ intent: { kind, documentHash }, anchoring }) => ({
      ...valuesOf(anchoring),
      kind,
      hash: fromHex(documentHash),
    })),
  )
  return changesOf(rows, anchored)
}

function valuesOf({ blockNumber, blockHash, transactionHash }: Anchoring) {
  return {
    block: blockNumber,
    block_hash: fromHex(blockHash),
    transaction_hash: bytesOf(transactionHash),
  }
}

/** @returns The place of all intents of a plan; `undefined` when they do not share one. */
function sharedPlace(anchored: readonly Anchored[], plan: Plan): Anchoring | undefined {
  const [first] = anchored.map(({ anchoring }) => anchoring)
  if (anchored.length !== plan.intents.length) return undefined
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
  yield* followGone(waiting.map(intentOf))
}

const BLOCK_ITEM = { number: 'integer', hash: 'bytes' } as const

const ADD = statement(
  (sql) => `
    INSERT INTO anchor_block (block_number, block_hash)
    SELECT item.number, item.hash FROM ${sql.items(BLOCK_ITEM)} WHERE true ON CONFLICT DO NOTHING`,
)
const DELETE_EMPTY = statement(
  (sql) => `
    DELETE FROM anchor_block WHERE (block_number, block_hash) IN (
      SELECT item.number, item.hash FROM ${sql.items(BLOCK_ITEM)}
      WHERE NOT EXISTS (
        SELECT 1 FROM intent
        WHERE intent.block_number = item.number AND intent.block_hash = item.hash))`,
)
const NOTE = statement(
  (sql) => `
    UPDATE anchor_block SET seen = :seen FROM ${sql.items(BLOCK_ITEM)}
    WHERE block_number = item.number AND block_hash = item.hash`,
)
const SELECT_UNSEEN = statement(`
  SELECT block_number, block_hash FROM anchor_block
  WHERE NOT seen AND (block_number, block_hash) > (:number, :hash)
  ORDER BY block_number, block_hash LIMIT :limit`)
const SELECT_NEWEST_SEEN = statement(`
  SELECT block_number, block_hash FROM anchor_block WHERE seen
  ORDER BY block_number DESC, block_hash DESC LIMIT 1`)

function blockValuesOf(blocks: readonly BlockId[]): Values[] {
  const distinct = new Map(blocks.map((block) => [keyOfBlock(block), block]))
  return [...distinct.values()].map(({ blockNumber, blockHash }) => ({
    number: blockNumber,
    hash: fromHex(blockHash),
  }))
}

/** Lists blocks that get intents. Call this under the lock of outcomes. */
export function* addBlocks(blocks: readonly BlockId[]): Work<void> {
  yield* each(ADD, blockValuesOf(blocks))
}

/** Deletes blocks that no longer have an intent. Call this under the lock of outcomes. */
export function* deleteEmptyBlocks(left: readonly BlockId[]): Work<void> {
  yield* each(DELETE_EMPTY, blockValuesOf(left))
}

export function createAnchorBlocks(database: Database): AnchorBlocks {
  return {
    async unseen(after, limit) {
      const { blockNumber = -1, blockHash = '0x' } = after ?? {}
      const rows = await database.read(SELECT_UNSEEN, {
        number: blockNumber,
        hash: fromHex(blockHash),
        limit,
      })
      return rows.map(blockOf)
    },
    async newestSeen() {
      const [row] = await database.read(SELECT_NEWEST_SEEN)
      return row && blockOf(row)
    },
    async note(blocks, seen) {
      if (blocks.length > 0) await database.change(NOTE, { seen }, blockValuesOf(blocks))
    },
  }
}
