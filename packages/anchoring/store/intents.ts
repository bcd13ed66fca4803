import { fromHex, type Hex } from '#document/hex.ts'
import type { Anchored, BlockId, Standing } from '#promise/anchoring.ts'
import type { Intent } from '#promise/intent.ts'
import { type Dialect, hexOf, hexOrNull, type Row, statement, type Values } from './sql.ts'

// Rows of the table `intent`.

/** The columns that the readers below need. */
export const INTENT_COLUMNS = [
  'id',
  'kind',
  'document_hash',
  'root',
  'valid_until',
  'manifest',
  'reason',
  'tenant',
  'reported',
  'block_number',
  'block_hash',
  'transaction_hash',
  'account',
]
  .map((name) => `intent.${name}`)
  .join(', ')

export function intentOf(row: Row): Intent {
  const kind = row.kind as Intent['kind']
  const key = {
    documentHash: hexOf(row.document_hash),
    ...(row.root !== null && { root: hexOf(row.root) }),
    ...(row.tenant !== null && { tenant: String(row.tenant) }),
  }
  if (kind === 'revoke') return { kind, ...key, reason: Number(row.reason) }
  if (kind !== 'issue') return { kind, ...key }
  const manifest = hexOrNull(row.manifest)
  return { kind, ...key, validUntil: Number(row.valid_until), ...(manifest && { manifest }) }
}

export function standingOf(row: Row): Standing {
  const { intent, anchoring } = anchoredOf(row)
  const { transactionHash } = anchoring
  return {
    intent,
    outcome:
      row.block_number === null
        ? { status: 'pending', transactionHash }
        : { status: 'anchored', ...anchoring },
  }
}

export function anchoredOf(row: Row): Anchored {
  return {
    intent: intentOf(row),
    anchoring: { ...blockOf(row), transactionHash: hexOrNull(row.transaction_hash) },
  }
}

export function blockOf(row: Row): BlockId {
  return { blockNumber: Number(row.block_number), blockHash: hexOf(row.block_hash) }
}

/** Items that name intents by their keys. */
export type KeyOfIntent = { kind: Intent['kind']; documentHash: Hex }
export const KEY = { kind: 'text', hash: 'bytes' } as const
export const IS_KEY = 'intent.document_hash = item.hash AND intent.kind = item.kind'

export function keysOf(intents: readonly KeyOfIntent[]): Values[] {
  return intents.map(({ kind, documentHash }) => ({ kind, hash: fromHex(documentHash) }))
}

/**
 * Items that name intents with their blocks. An intent that has since left its block does not
 * match.
 */
export const PLACED_KEY = { ...KEY, block: 'integer', block_hash: 'bytes' } as const
export const IS_PLACED_KEY = `${IS_KEY} AND intent.block_number = item.block
  AND intent.block_hash = item.block_hash`

export function placedKeysOf(anchored: readonly Anchored[]): Values[] {
  return anchored.map(({ intent, anchoring }) => ({
    kind: intent.kind,
    hash: fromHex(intent.documentHash),
    block: anchoring.blockNumber,
    block_hash: fromHex(anchoring.blockHash),
  }))
}

/** Reads intents that this transaction changes, in their previous state. */
export const SELECT_BY_KEY = statement(
  (sql) => `
    SELECT ${INTENT_COLUMNS} FROM ${sql.items(KEY)} JOIN intent ON ${IS_KEY}
    ${sql.forUpdate('intent')}`,
)
export const SELECT_BY_PLACED_KEY = statement(
  (sql) => `
    SELECT ${INTENT_COLUMNS} FROM ${sql.items(PLACED_KEY)} JOIN intent ON ${IS_PLACED_KEY}
    ${sql.forUpdate('intent')}`,
)
/** In both databases, `DELETE` cannot use items. */
export const deleteBy = (sql: Dialect, key: typeof KEY | typeof PLACED_KEY, is: string) => `
  DELETE FROM intent WHERE id IN (SELECT intent.id FROM ${sql.items(key)} JOIN intent ON ${is})`

/** @returns An expression for the kind that undoes another; NULL for a final one. */
export const opposite = (kind: string) =>
  `CASE ${kind} WHEN 'suspend' THEN 'release' WHEN 'release' THEN 'suspend' END`

/**
 * A condition of the table `intent`: whether an account may send it now.
 *
 * A change waits until its document or batch, and the change before it, are in a block; where
 * another account sent these, until that block is final and they have left the table. The registry
 * skips the change of a document that is not on the chain, and only the transactions of one account
 * stay in order after a reorg. A suspension or a release that an account has carried could be mined
 * once more, so no other account sends it.
 *
 * @param account An expression for the account.
 */
export const maySend = (account: string) =>
  `(intent.kind = 'issue' OR (
    (intent.kind = 'revoke' OR intent.account IS NULL OR intent.account = ${account})
    AND NOT EXISTS (
      SELECT 1 FROM intent AS issue
      WHERE issue.document_hash = coalesce(intent.root, intent.document_hash)
        AND issue.kind = 'issue'
        AND (issue.block_number IS NULL OR issue.account <> ${account}))
    AND NOT EXISTS (
      SELECT 1 FROM intent AS other
      WHERE other.document_hash = intent.document_hash AND other.kind <> intent.kind
        AND other.kind <> 'issue' AND other.block_number IS NOT NULL
        AND other.account <> ${account})))`

/** Whatever writes an intent, an erased document does not come back. */
export const SEALED_UNLESS_ERASED = `CASE WHEN item.sealed IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM tombstone WHERE tombstone.hash = item.document_hash)
  THEN item.sealed END`
