import { fromHex } from '#document/hex.ts'
import { type Anchored, otherReasonOf, type SettledIntents } from '#promise/anchoring.ts'
import { bytesOf } from '../../columns.ts'
import type { Query } from '../../drivers/postgres/query.ts'
import { addBlocks, deleteEmptyBlocks } from './blocks.ts'
import { blockOf, IS_KEY, KEYS, keysOf } from './rows.ts'

/**
 * Begins a transaction that writes outcomes: one at a time does, so that events are in the order of
 * commits, and the list of blocks in step with the intents in them.
 */
export async function lockOutcomes(query: Query): Promise<void> {
  await query('SELECT lock_outcomes()')
}

/** Writes what the chain shows of intents. For use under the lock of outcomes. */
export async function writeOutcome(
  query: Query,
  { anchored, gone }: SettledIntents,
): Promise<void> {
  await anchor(query, anchored)
  await deleteUndone(query, anchored)
  if (gone.length > 0) await query(`DELETE FROM intent USING ${KEYS} WHERE ${IS_KEY}`, keysOf(gone))
}

/**
 * Triggers write event and index by the row: it has the chain's reason meanwhile. Then it gets its
 * own back, which counts again when a reorg drops the other revocation.
 */
export async function anchor(query: Query, anchored: readonly Anchored[]): Promise<void> {
  if (anchored.length === 0) return
  const others = anchored.flatMap((one) => {
    const reasons = otherReasonOf(one)
    return reasons ? [{ hash: fromHex(one.intent.documentHash), ...reasons }] : []
  })
  const setReasons = async (which: 'own' | 'shown') => {
    if (others.length === 0) return
    await query(
      `UPDATE intent SET reason = item.reason
       FROM unnest($1::bytea[], $2::smallint[]) AS item (hash, reason)
       WHERE document_hash = item.hash AND kind = 'revoke'`,
      [others.map(({ hash }) => hash), others.map((one) => one[which])],
    )
  }
  await setReasons('shown')
  await addBlocks(
    query,
    anchored.map(({ anchoring }) => anchoring),
  )
  await query(
    `UPDATE intent SET plan = NULL, block_number = item.block, block_hash = item.block_hash,
       transaction_hash = item.transaction
     FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::bytea[], $5::bytea[])
       AS item (kind, hash, block, block_hash, transaction)
     WHERE ${IS_KEY}`,
    [
      ...keysOf(anchored.map(({ intent }) => intent)),
      anchored.map(({ anchoring }) => anchoring.blockNumber),
      anchored.map(({ anchoring }) => fromHex(anchoring.blockHash)),
      anchored.map(({ anchoring }) => bytesOf(anchoring.transactionHash)),
    ],
  )
  await setReasons('own')
}

/** Deletes the anchored suspensions and releases that newly anchored ones have undone. */
async function deleteUndone(query: Query, anchored: readonly Anchored[]): Promise<void> {
  for (const [kind, opposite] of [
    ['suspend', 'release'],
    ['release', 'suspend'],
  ]) {
    const hashes = anchored
      .filter(({ intent }) => intent.kind === kind)
      .map(({ intent }) => fromHex(intent.documentHash))
    if (hashes.length === 0) continue
    const undone = await query(
      `DELETE FROM intent WHERE kind = $1 AND block_number IS NOT NULL AND document_hash = ANY($2)
       RETURNING block_number, block_hash`,
      [opposite, hashes],
    )
    await deleteEmptyBlocks(query, undone.map(blockOf))
  }
}
