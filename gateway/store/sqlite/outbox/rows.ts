import type { Hex } from '#document/hex.ts'
import type { Anchored, BlockId, Standing } from '#promise/anchoring.ts'
import type { Intent } from '#promise/intent.ts'
import type { SignedTransaction } from '#promise/plan.ts'

/** A row without its blobs. */
export type Row = Record<string, string | number | null>

/** The columns of `intent` that the readers below need. */
export const INTENT_COLUMNS =
  'kind, document_hash, root, valid_until, manifest, reason, tenant, promised, plan, block_number, block_hash, transaction_hash'

export function intentOf(row: Row): Intent {
  const documentHash = row.document_hash as Hex
  const kind = row.kind as Intent['kind']
  const key = {
    documentHash,
    ...(row.root !== null && { root: row.root as Hex }),
    ...(row.tenant !== null && { tenant: String(row.tenant) }),
  }
  if (kind === 'revoke') return { kind, ...key, reason: Number(row.reason) }
  if (kind !== 'issue') return { kind, ...key }
  const manifest = row.manifest as Hex | null
  return { kind, ...key, validUntil: Number(row.valid_until), ...(manifest && { manifest }) }
}

export function standingOf(row: Row): Standing {
  const { intent, anchoring } = anchoredOf(row)
  const { transactionHash } = anchoring
  return {
    intent,
    promised: row.promised === 1,
    outcome:
      row.block_number === null
        ? { status: 'pending', transactionHash }
        : { status: 'anchored', ...anchoring },
  }
}

export function anchoredOf(row: Row): Anchored {
  const transactionHash = row.transaction_hash as Hex | null
  return {
    intent: intentOf(row),
    anchoring: { ...blockOf(row), transactionHash },
  }
}

export function blockOf(row: Row): BlockId {
  return {
    blockNumber: Number(row.block_number),
    blockHash: row.block_hash as Hex,
  }
}

/** @param nonce Of its plan. */
export function attemptOf(row: Row, nonce: number): SignedTransaction {
  return {
    nonce,
    hash: row.hash as Hex,
    raw: row.raw as Hex,
    gasLimit: BigInt(row.gas_limit ?? 0),
    maxFeePerGas: BigInt(row.max_fee_per_gas ?? 0),
    maxPriorityFeePerGas: BigInt(row.max_priority_fee_per_gas ?? 0),
  }
}
