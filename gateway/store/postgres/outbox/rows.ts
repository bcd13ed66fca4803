import { fromHex, type Hex } from '#document/hex.ts'
import type { Anchored, BlockId, Standing } from '#promise/anchoring.ts'
import type { Intent } from '#promise/intent.ts'
import type { SignedTransaction } from '#promise/plan.ts'
import { hexOf, hexOrNull } from '../../columns.ts'
import type { Row } from '../../drivers/postgres/query.ts'

/** The columns of `intent` that the readers below need. */
export const INTENT_COLUMNS = [
  ...['kind', 'document_hash', 'root', 'valid_until', 'manifest', 'reason', 'tenant', 'promised'],
  ...['plan', 'block_number', 'block_hash', 'transaction_hash', 'account'],
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
  const account = hexOrNull(row.account)
  return {
    intent,
    promised: row.promised === true,
    ...(account && { account }),
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

/** @param nonce Of its plan. */
export function attemptOf(row: Row, nonce: number): SignedTransaction {
  return {
    nonce,
    hash: hexOf(row.hash),
    raw: hexOf(row.raw),
    gasLimit: BigInt(row.gas_limit as number),
    maxFeePerGas: BigInt(row.max_fee_per_gas as string),
    maxPriorityFeePerGas: BigInt(row.max_priority_fee_per_gas as string),
  }
}

type KeyOfIntent = { kind: Intent['kind']; documentHash: Hex }

/** Values for {@link KEYS}. */
export function keysOf(intents: readonly KeyOfIntent[]): [string[], Uint8Array[]] {
  return [intents.map(({ kind }) => kind), intents.map(({ documentHash }) => fromHex(documentHash))]
}

/** The intents with the keys in `$1` and `$2`; a condition of the table `intent`. */
export const KEYS = 'unnest($1::text[], $2::bytea[]) AS item (kind, hash)'
export const IS_KEY = 'intent.document_hash = item.hash AND intent.kind = item.kind'

/** Values for {@link PLACED_KEYS}: an intent that has left its block since is not among them. */
export function placedKeysOf(anchored: readonly Anchored[]) {
  return [
    ...keysOf(anchored.map(({ intent }) => intent)),
    anchored.map(({ anchoring }) => anchoring.blockNumber),
    anchored.map(({ anchoring }) => fromHex(anchoring.blockHash)),
  ]
}
export const PLACED_KEYS =
  'unnest($1::text[], $2::bytea[], $3::bigint[], $4::bytea[]) AS item (kind, hash, block, block_hash)'
export const IS_PLACED_KEY = `${IS_KEY} AND intent.block_number = item.block
  AND intent.block_hash = item.block_hash`
