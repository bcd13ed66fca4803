import { fromHex } from '#document/hex.ts'
import {
  type Anchored,
  isRevokedAnew,
  type Moved,
  type ReviewedIntents,
} from '#promise/anchoring.ts'
import { type Intent, keyOfIntent } from '#promise/intent.ts'
import type { Anchorings } from '#promise/ports.ts'
import { type Database, lockOutcomes } from '../database.ts'
import { insertDocuments } from '../documents.ts'
import {
  anchoredOf,
  deleteBy,
  INTENT_COLUMNS,
  IS_PLACED_KEY,
  intentOf,
  opposite,
  PLACED_KEY,
  placedKeysOf,
  SEALED_UNLESS_ERASED,
  SELECT_BY_PLACED_KEY,
} from '../intents.ts'
import { addHistory, appendEvents, endOf, eventOf, followChanges } from '../outcomes.ts'
import { all, bytesOf, each, hexOf, isSet, statement, type Work } from '../sql.ts'
import { claimSuccession } from '../successions.ts'
import { insertItems } from '../tables.ts'
import { addBlocks, anchor, deleteEmptyBlocks, placeOf } from './settle.ts'

const SELECT_UP_TO = statement(`
  SELECT ${INTENT_COLUMNS} FROM intent WHERE block_number <= :number
  ORDER BY block_number, block_hash LIMIT :limit`)
const SELECT_IN = statement(`
  SELECT ${INTENT_COLUMNS} FROM intent WHERE block_number = :number AND block_hash = :hash
  LIMIT :limit`)

export function createAnchorings(database: Database): Anchorings {
  return {
    async anchoredUpTo(number, limit) {
      return (await database.read(SELECT_UP_TO, { number, limit })).map(anchoredOf)
    },
    async anchoredIn({ blockNumber, blockHash }, limit) {
      const block = { number: blockNumber, hash: fromHex(blockHash), limit }
      return (await database.read(SELECT_IN, block)).map(anchoredOf)
    },
    adopt: (...adopted) => database.write(() => adopt(...adopted)),
    review: (found) =>
      database.write(function* () {
        yield* lockOutcomes()
        return yield* review(found)
      }),
  }
}

const ADOPTED_COLUMNS =
  'document_hash, valid_until, tenant, block_number, block_hash, transaction_hash'
// A document that was reported before it left the outbox is not reported again.
const ADOPT = statement(
  (sql) => `
    ${insertItems(sql, 'intent', ADOPTED_COLUMNS, {
      computed: {
        kind: "'issue'",
        sealed: SEALED_UNLESS_ERASED,
        reported: `EXISTS (SELECT 1 FROM history WHERE history.block_number = item.block_number
          AND history.document_hash = item.document_hash)`,
      },
      more: { sealed: 'bytes' },
    })} WHERE true
    ON CONFLICT DO NOTHING RETURNING reported`,
)

function* adopt(...[intent, anchoring, payload = {}]: Parameters<Anchorings['adopt']>): Work<void> {
  const { documentHash, validUntil, tenant } = intent
  const { blockNumber, blockHash, transactionHash } = anchoring
  const { sealed, entry } = payload
  yield* lockOutcomes()
  const [added] = yield* each(ADOPT, [
    {
      document_hash: fromHex(documentHash),
      valid_until: validUntil,
      tenant: tenant ?? null,
      sealed: sealed ?? null,
      block_number: blockNumber,
      block_hash: fromHex(blockHash),
      transaction_hash: bytesOf(transactionHash),
    },
  ])
  if (added) {
    yield* addBlocks([anchoring])
    yield* addHistory(false, [{ hash: documentHash, blockNumber, transactionHash }])
    if (!isSet(added.reported))
      yield* appendEvents([eventOf({ intent, before: null, after: anchoring })])
  }
  if (entry) yield* insertDocuments([{ documentHash, entry, blockNumber }])
  const { supersedes, supersededRoot } = entry ?? {}
  if (supersedes) yield* claimSuccession(supersedes, documentHash, supersededRoot)
}

/** Call this under the lock of outcomes. */
function* review({ final, gone, moved, dropped }: ReviewedIntents): Work<Intent[]> {
  yield* leave(final, 'final')
  yield* leave(gone, 'failed')
  yield* addBlocks(moved.map(({ now }) => now))
  yield* move(moved.filter((one) => !isRevokedAnew(one)))
  yield* anchorAnew(moved.filter(isRevokedAnew))
  const requeued = yield* requeue(dropped)
  // A move does nothing when its intent has left meanwhile, so the new blocks may be empty too.
  const left = [...final, ...gone, ...moved, ...dropped].map(({ anchoring }) => anchoring)
  yield* deleteEmptyBlocks([...left, ...moved.map(({ now }) => now)])
  return requeued
}

const DELETE_PLACED = statement(
  (sql) => `${deleteBy(sql, PLACED_KEY, IS_PLACED_KEY)} RETURNING kind, document_hash, reported`,
)

/** Reports the outcomes of intents, and deletes them. */
function* leave(anchored: readonly Anchored[], end: 'final' | 'failed'): Work<void> {
  const rows = yield* each(DELETE_PLACED, placedKeysOf(anchored))
  const unreported = new Set(
    rows
      .filter(({ kind, reported }) => kind === 'issue' && !isSet(reported))
      .map(({ document_hash }) => hexOf(document_hash)),
  )
  yield* appendEvents(
    anchored
      .filter(({ intent }) => intent.kind === 'issue' && unreported.has(intent.documentHash))
      .map(({ intent, anchoring }) => endOf(intent, end, anchoring)),
  )
}

const MOVE = statement(
  (sql) => `
    UPDATE intent SET block_number = item.to_block, block_hash = item.to_hash,
      transaction_hash = item.transaction_hash
    FROM ${sql.items({
      ...PLACED_KEY,
      to_block: 'integer',
      to_hash: 'bytes',
      transaction_hash: 'bytes',
    })} WHERE ${IS_PLACED_KEY}`,
)

function* move(moved: readonly Moved[]): Work<void> {
  const keys = placedKeysOf(moved)
  const rows = yield* each(SELECT_BY_PLACED_KEY, keys)
  yield* each(
    MOVE,
    moved.map(({ now }, i) => ({
      ...keys[i],
      to_block: now.blockNumber,
      to_hash: fromHex(now.blockHash),
      transaction_hash: bytesOf(now.transactionHash),
    })),
  )
  const after = new Map(moved.map(({ intent, now }) => [keyOfIntent(intent), now]))
  yield* followChanges(
    rows.map((row) => {
      const intent = intentOf(row)
      return { intent, before: placeOf(row), after: after.get(keyOfIntent(intent)) ?? null }
    }),
  )
}

/** Skips intents that have since left their blocks. */
function* anchorAnew(moved: readonly Moved[]): Work<void> {
  const left = new Set((yield* requeue(moved)).map(keyOfIntent))
  const anchored = moved.map(({ intent, now }) => ({ intent, anchoring: now }))
  yield* anchor(anchored.filter(({ intent }) => left.has(keyOfIntent(intent))))
}

const SELECT_UNOPPOSED = statement(
  (sql) => `
    SELECT ${INTENT_COLUMNS} FROM ${sql.items(PLACED_KEY)} JOIN intent ON ${IS_PLACED_KEY}
    WHERE NOT EXISTS (
      SELECT 1 FROM intent AS other WHERE other.document_hash = item.hash
      AND other.kind = ${opposite('item.kind')} AND other.block_number IS NULL)
    ${sql.forUpdate('intent')}`,
)
const REQUEUE = statement(
  (sql) => `
    UPDATE intent SET block_number = NULL, block_hash = ${sql.value('none', 'bytes')}
    WHERE ${sql.isIn('id', 'ids', 'integer')}`,
)

/** @returns The intents that are now queued, which excludes those whose opposite waits. */
function* requeue(dropped: readonly Anchored[]): Work<Intent[]> {
  const rows = yield* each(SELECT_UNOPPOSED, placedKeysOf(dropped))
  if (rows.length === 0) return []
  yield* all(REQUEUE, { none: new Uint8Array(), ids: rows.map(({ id }) => id) })
  yield* followChanges(
    rows.map((row) => ({ intent: intentOf(row), before: placeOf(row), after: null })),
  )
  return rows.map(intentOf)
}
