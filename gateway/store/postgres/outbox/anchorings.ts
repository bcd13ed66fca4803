import { fromHex } from '#document/hex.ts'
import {
  type Anchored,
  isRevokedAnew,
  type Moved,
  type ReviewedIntents,
} from '#promise/anchoring.ts'
import { type Intent, keyOfIntent } from '#promise/intent.ts'
import type { Anchorings } from '#promise/ports.ts'
import { bytesOf } from '../../columns.ts'
import type { Postgres } from '../../drivers/postgres/database.ts'
import type { Query } from '../../drivers/postgres/query.ts'
import { insertDocuments } from '../index-documents.ts'
import { claimSuccession } from '../successions.ts'
import { addBlocks, deleteEmptyBlocks } from './blocks.ts'
import { anchor, lockOutcomes } from './outcomes.ts'
import { OPPOSITE } from './revisions.ts'
import {
  anchoredOf,
  INTENT_COLUMNS,
  IS_PLACED_KEY,
  intentOf,
  PLACED_KEYS,
  placedKeysOf,
} from './rows.ts'

export function createAnchorings(database: Postgres): Anchorings {
  const { query, transaction } = database
  return {
    async anchoredUpTo(blockNumber, limit) {
      const rows = await query(
        `SELECT ${INTENT_COLUMNS} FROM intent WHERE block_number <= $1
         ORDER BY block_number, block_hash LIMIT $2`,
        [blockNumber, limit],
      )
      return rows.map(anchoredOf)
    },
    async anchoredIn({ blockNumber, blockHash }, limit) {
      const rows = await query(
        `SELECT ${INTENT_COLUMNS} FROM intent WHERE block_number = $1 AND block_hash = $2 LIMIT $3`,
        [blockNumber, fromHex(blockHash), limit],
      )
      return rows.map(anchoredOf)
    },
    adopt: createAdopt(database),
    review: (found) =>
      transaction(async (within) => {
        await lockOutcomes(within)
        return review(within, found)
      }),
  }
}

function createAdopt({ transaction }: Postgres): Anchorings['adopt'] {
  return (intent, anchoring, { sealed, entry } = {}) =>
    transaction(async (query) => {
      const { documentHash, validUntil, tenant } = intent
      const { blockNumber, blockHash, transactionHash } = anchoring
      await lockOutcomes(query)
      const inserted = await query(
        `INSERT INTO intent (kind, document_hash, valid_until, tenant, sealed, promised,
           block_number, block_hash, transaction_hash, reported)
         VALUES ('issue', $1, $2, $3, $4, true, $5, $6, $7, EXISTS (
           SELECT 1 FROM history WHERE block_number = $5 AND document_hash = $1))
         ON CONFLICT DO NOTHING RETURNING id`,
        [
          ...[fromHex(documentHash), validUntil, tenant, sealed, blockNumber],
          ...[fromHex(blockHash), bytesOf(transactionHash)],
        ],
      )
      if (inserted.length > 0) await addBlocks(query, [anchoring])
      if (entry) await insertDocuments(query, [{ documentHash, entry, blockNumber }])
      const { supersedes, supersededRoot } = entry ?? {}
      if (supersedes)
        await claimSuccession(query, {
          documentHash: supersedes,
          successorHash: documentHash,
          root: supersededRoot,
        })
    })
}

/** For use under the lock of outcomes. */
async function review(query: Query, found: ReviewedIntents): Promise<Intent[]> {
  const { final, gone, moved, dropped } = found
  await leave(query, final, 'final')
  await leave(query, gone, 'failed')
  await addBlocks(
    query,
    moved.map(({ now }) => now),
  )
  await move(
    query,
    moved.filter((one) => !isRevokedAnew(one)),
  )
  await anchorAnew(query, moved.filter(isRevokedAnew))
  const requeued = await requeue(query, dropped)
  // A move does nothing when its intent has left meanwhile: the new blocks may be empty too.
  const left = [...final, ...gone, ...moved, ...dropped].map(({ anchoring }) => anchoring)
  await deleteEmptyBlocks(query, [...left, ...moved.map(({ now }) => now)])
  return requeued
}

/** Reports what has become of intents, and deletes them. */
async function leave(
  query: Query,
  anchored: readonly Anchored[],
  type: 'final' | 'failed',
): Promise<void> {
  if (anchored.length === 0) return
  const keys = placedKeysOf(anchored)
  await query(
    `SELECT append_events(array_agg((
       CASE WHEN is_batch(root, document_hash) THEN 'batch.' ELSE 'document.' END || $5::text,
       document_hash, block_number, intent.block_hash, transaction_hash, tenant, false)::new_event
       ORDER BY id))
     FROM intent JOIN ${PLACED_KEYS} ON ${IS_PLACED_KEY}
     WHERE intent.kind = 'issue' AND NOT reported`,
    [...keys, type],
  )
  await query(`DELETE FROM intent USING ${PLACED_KEYS} WHERE ${IS_PLACED_KEY}`, keys)
}

async function move(query: Query, moved: readonly Moved[]): Promise<void> {
  if (moved.length === 0) return
  await query(
    `UPDATE intent SET block_number = item.to_block, block_hash = item.to_hash,
       transaction_hash = item.transaction
     FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::bytea[], $5::bigint[], $6::bytea[],
       $7::bytea[])
       AS item (kind, hash, block, block_hash, to_block, to_hash, transaction)
     WHERE ${IS_PLACED_KEY}`,
    [
      ...placedKeysOf(moved),
      moved.map(({ now }) => now.blockNumber),
      moved.map(({ now }) => fromHex(now.blockHash)),
      moved.map(({ now }) => bytesOf(now.transactionHash)),
    ],
  )
}

/** Skips those that have left their blocks since. */
async function anchorAnew(query: Query, moved: readonly Moved[]): Promise<void> {
  const left = new Set((await requeue(query, moved)).map(keyOfIntent))
  const anchored = moved.map(({ intent, now }) => ({ intent, anchoring: now }))
  await anchor(
    query,
    anchored.filter(({ intent }) => left.has(keyOfIntent(intent))),
  )
}

/** @returns The intents that are in the queue now: those whose opposite waits are not. */
async function requeue(query: Query, dropped: readonly Anchored[]): Promise<Intent[]> {
  if (dropped.length === 0) return []
  const rows = await query(
    `UPDATE intent SET block_number = NULL, block_hash = '' FROM ${PLACED_KEYS}
     WHERE ${IS_PLACED_KEY} AND NOT EXISTS (
       SELECT 1 FROM intent AS other WHERE other.document_hash = item.hash
       AND other.kind = ${OPPOSITE('item.kind')} AND other.block_number IS NULL)
     RETURNING ${INTENT_COLUMNS}`,
    placedKeysOf(dropped),
  )
  return rows.map(intentOf)
}
