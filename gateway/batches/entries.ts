import type { IndexEntry } from '#promise/document-index.ts'

/** Bytes of an entry of the index. Its tenant is not in them: a batch is of one tenant. */
export const ENTRY_BYTES = 28

/** @param out At least 28 bytes. */
export function writeEntry(entry: IndexEntry, out: DataView): void {
  out.setInt32(0, entry.issuedOn)
  out.setFloat64(4, entry.validUntil)
  out.setBigInt64(12, entry.subject)
  out.setBigInt64(20, entry.category)
}

/**
 * @param at Where it begins in `bytes`.
 * @param blindTenant The blind index of the batch's tenant.
 */
export function readEntry(bytes: DataView, at: number, blindTenant: bigint | null): IndexEntry {
  return {
    issuedOn: bytes.getInt32(at),
    validUntil: bytes.getFloat64(at + 4),
    subject: bytes.getBigInt64(at + 12),
    category: bytes.getBigInt64(at + 20),
    tenant: blindTenant,
  }
}
