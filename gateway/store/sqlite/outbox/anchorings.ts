import {
  type Anchored,
  type Anchoring,
  isRevokedAnew,
  type ReviewedIntents,
} from '#promise/anchoring.ts'
import type { Intent } from '#promise/intent.ts'
import type { Anchorings } from '#promise/ports.ts'
import type { Database } from '../../drivers/sqlite/database.ts'
import { createInsertDocument } from '../document-index.ts'
import { eventOf } from '../schema.ts'
import { createClaimSuccession } from '../successions.ts'
import type { BlockWriter } from './blocks.ts'
import type { OutcomeParts } from './outcomes.ts'
import { anchoredOf, INTENT_COLUMNS, type Row } from './rows.ts'

export function createAnchorings(database: Database, parts: OutcomeParts): Anchorings {
  const review = createReview(database, parts)
  return {
    ...createAnchoringReader(database),
    ...createAdopt(database, parts.blocks),
    review: (found) => database.write(() => review(found)),
  }
}

function createAnchoringReader({
  sqlite,
}: Database): Pick<Anchorings, 'anchoredUpTo' | 'anchoredIn'> {
  const selectUpTo = sqlite.prepare(`
    SELECT ${INTENT_COLUMNS} FROM intent WHERE block_number <= ?
    ORDER BY block_number, block_hash LIMIT ?`)
  const selectIn = sqlite.prepare(`
    SELECT ${INTENT_COLUMNS} FROM intent WHERE block_number = ? AND block_hash = ? LIMIT ?`)

  return {
    anchoredUpTo: async (blockNumber, limit) =>
      (selectUpTo.all(blockNumber, limit) as Row[]).map(anchoredOf),
    anchoredIn: async ({ blockNumber, blockHash }, limit) =>
      (selectIn.all(blockNumber, blockHash, limit) as Row[]).map(anchoredOf),
  }
}

function createAdopt(database: Database, blocks: BlockWriter): Pick<Anchorings, 'adopt'> {
  const { sqlite, write } = database
  const insert = sqlite.prepare(`
    INSERT INTO intent (kind, document_hash, valid_until, tenant, sealed, promised,
      block_number, block_hash, transaction_hash, reported)
    VALUES ('issue', ?1, ?2, ?3, ?4, 1, ?5, ?6, ?7, EXISTS (
      SELECT 1 FROM history WHERE block_number = ?5 AND document_hash = unhex(substr(?1, 3))))
    ON CONFLICT DO NOTHING`)

  const documents = createInsertDocument(database)
  const claimSuccession = createClaimSuccession(database)

  return {
    adopt: ({ documentHash, validUntil, tenant = null }, anchoring, { sealed, entry } = {}) =>
      write(() => {
        const place = placeOf(anchoring)
        const { changes } = insert.run(documentHash, validUntil, tenant, sealed ?? null, ...place)
        if (changes > 0) blocks.add(anchoring)
        const { blockNumber } = anchoring
        if (entry) documents.insert({ documentHash, entry, blockNumber })
        if (entry?.supersedes) claimSuccession(entry.supersedes, documentHash, entry.supersededRoot)
      }),
  }
}

function createReview(
  { sqlite }: Database,
  { blocks, opposites, anchorEach }: OutcomeParts,
): (found: ReviewedIntents) => Intent[] {
  const report = (type: string) =>
    sqlite.prepare(`
      ${eventOf('intent', `'${type}'`)} FROM intent
      WHERE kind = 'issue' AND reported = 0
      AND document_hash = ? AND kind = ? AND block_number = ? AND block_hash = ?`)
  const [reportFinal, reportFailed] = [report('document.final'), report('document.failed')]
  const remove = sqlite.prepare(`
    DELETE FROM intent
    WHERE document_hash = ? AND kind = ? AND block_number = ? AND block_hash = ?`)
  const move = sqlite.prepare(`
    UPDATE intent SET block_number = ?, block_hash = ?, transaction_hash = ?
    WHERE document_hash = ? AND kind = ? AND block_number = ? AND block_hash = ?`)
  const requeue = sqlite.prepare(`
    UPDATE intent SET block_number = NULL, block_hash = '0x'
    WHERE document_hash = ? AND kind = ? AND block_number = ? AND block_hash = ?`)

  return ({ final, gone, moved, dropped }) => {
    for (const one of final) {
      reportFinal.run(...rowKeyOf(one))
      remove.run(...rowKeyOf(one))
    }
    for (const one of gone) {
      reportFailed.run(...rowKeyOf(one))
      remove.run(...rowKeyOf(one))
    }
    for (const { now } of moved) blocks.add(now)
    for (const one of moved) {
      const { intent, now: anchoring } = one
      if (!isRevokedAnew(one)) move.run(...placeOf(anchoring), ...rowKeyOf(one))
      else if (requeue.run(...rowKeyOf(one)).changes > 0) anchorEach([{ intent, anchoring }])
    }
    const requeued = dropped
      .filter(({ intent }) => !opposites.isWaiting(intent))
      .filter((one) => requeue.run(...rowKeyOf(one)).changes > 0)
    // A move does nothing when its intent has left meanwhile: the new blocks may be empty too.
    const left = [...final, ...gone, ...moved, ...dropped].map(({ anchoring }) => anchoring)
    blocks.deleteEmpty([...left, ...moved.map(({ now }) => now)])
    return requeued.map(({ intent }) => intent)
  }
}

const placeOf = ({ blockNumber, blockHash, transactionHash }: Anchoring) =>
  [blockNumber, blockHash, transactionHash] as const

/** With its block: an intent that has left that block since stays as it is. */
const rowKeyOf = ({ intent, anchoring }: Anchored) =>
  [intent.documentHash, intent.kind, anchoring.blockNumber, anchoring.blockHash] as const
