import { createRows } from '../../document/batch/rows.ts'
import type { IndexEntry } from '../document-index.ts'

/** What the index gets about the documents of a batch, until their blocks are made. */
export type Entries = {
  push(entry: IndexEntry): void
  /** @param index From 0, in the order of `push`. */
  at(index: number): IndexEntry
}

const BYTES = 28

/** Takes 28 bytes of memory a document: all are of one tenant. */
export function createEntries(): Entries {
  const rows = createRows(BYTES)
  const row = new Uint8Array(BYTES)
  const view = new DataView(row.buffer)
  let tenant: bigint | null = null

  return {
    push({ issuedOn, validUntil, subject, category, ...entry }) {
      tenant = entry.tenant
      view.setInt32(0, issuedOn)
      view.setFloat64(4, validUntil)
      view.setBigInt64(12, subject)
      view.setBigInt64(20, category)
      rows.push(row)
    },
    at(index) {
      rows.copyTo(index, row)
      return {
        issuedOn: view.getInt32(0),
        validUntil: view.getFloat64(4),
        subject: view.getBigInt64(12),
        category: view.getBigInt64(20),
        tenant,
      }
    },
  }
}
