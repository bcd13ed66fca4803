import { keyOfIntent, type RevisionIntent } from '#promise/intent.ts'
import { bytesOf, hexOf } from '../../columns.ts'
import type { Query } from '../../drivers/postgres/query.ts'
import type { LeasedAccount } from '../../stores.ts'
import { deleteEmptyBlocks } from './blocks.ts'
import { valuesOfOwner } from './issues.ts'
import { lockOutcomes } from './outcomes.ts'
import { blockOf, IS_KEY, KEYS, keysOf } from './rows.ts'

/** `changedBlock`: see `Outbox`. */
export type NewRevision = { intent: RevisionIntent; promised: boolean; changedBlock: number }

/** An expression: the kind that undoes another; NULL for a final one. */
export const OPPOSITE = (kind: string) =>
  `CASE ${kind} WHEN 'suspend' THEN 'release' WHEN 'release' THEN 'suspend' END`

/**
 * Inserts revisions, or queues those again that were undone on the chain. For use in a transaction.
 *
 * @param revisions Of different documents.
 * @param owner The account that new ones get, while its lease lasts; not those that have to wait for
 * a document that another account issues.
 * @returns For each, in order: `false` when its opposite waits.
 */
export async function insertRevisions(
  query: Query,
  revisions: readonly NewRevision[],
  owner?: LeasedAccount,
): Promise<boolean[]> {
  await lockOutcomes(query)
  const blocked = await query(
    `SELECT item.kind, item.hash FROM ${KEYS} JOIN intent ON intent.document_hash = item.hash
       AND intent.kind = ${OPPOSITE('item.kind')} AND intent.block_number IS NULL`,
    keysOf(revisions.map(({ intent }) => intent)),
  )
  const isBlocked = new Set(blocked.map(({ kind, hash }) => `${kind} ${hexOf(hash)}`))
  const free = revisions.filter(({ intent }) => !isBlocked.has(keyOfIntent(intent)))
  await requeueUndone(query, free)
  await query(
    `WITH holder AS (
       SELECT $7::bytea AS account FROM lease WHERE name = $8 AND token = $9 FOR KEY SHARE
     )
     INSERT INTO intent (kind, document_hash, root, reason, tenant, promised, account)
     SELECT item.*, holder.account
     FROM unnest($1::text[], $2::bytea[], $3::bytea[], $4::smallint[], $5::text[], $6::boolean[])
         AS item (kind, hash, root, reason, tenant, promised)
       LEFT JOIN holder ON NOT waits_for_issue(item.kind, item.hash, item.root, holder.account)
     ON CONFLICT (document_hash, kind)
       DO UPDATE SET promised = intent.promised OR excluded.promised`,
    [
      ...keysOf(free.map(({ intent }) => intent)),
      free.map(({ intent }) => bytesOf(intent.root)),
      free.map(({ intent }) => (intent.kind === 'revoke' ? intent.reason : null)),
      free.map(({ intent }) => intent.tenant ?? null),
      free.map(({ promised }) => promised),
      ...valuesOfOwner(owner),
    ],
  )
  return revisions.map(({ intent }) => !isBlocked.has(keyOfIntent(intent)))
}

/** The transaction hash stays: an intent that a transaction has carried is never withdrawn. */
async function requeueUndone(query: Query, revisions: readonly NewRevision[]): Promise<void> {
  const keys = keysOf(revisions.map(({ intent }) => intent))
  const changed = revisions.map(({ changedBlock }) => changedBlock)
  const left = await query(
    `SELECT intent.block_number, intent.block_hash
     FROM unnest($1::text[], $2::bytea[], $3::bigint[]) AS item (kind, hash, changed)
       JOIN intent ON ${IS_KEY}
     WHERE intent.block_number <= item.changed FOR UPDATE OF intent`,
    [...keys, changed],
  )
  if (left.length === 0) return
  await query(
    `UPDATE intent SET reason = item.reason, block_number = NULL, block_hash = ''
     FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::smallint[])
       AS item (kind, hash, changed, reason)
     WHERE ${IS_KEY} AND intent.block_number <= item.changed`,
    [
      ...keys,
      changed,
      revisions.map(({ intent }) => (intent.kind === 'revoke' ? intent.reason : null)),
    ],
  )
  await deleteEmptyBlocks(query, left.map(blockOf))
}
