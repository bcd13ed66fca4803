import type { Hex } from '#document/hex.ts'
import type { RegistryAccount, RegistryRecord, RegistryStatus } from '#verifier/ports.ts'
import { NO_ACCOUNT, type RevisedSlot, registryStatusOf } from '#verifier/status.ts'
import type { DocumentTable, TableEntry } from './documents.ts'
import { type DocumentFinding, findingsIn } from './findings.ts'
import { distrustedRevision } from './revisions.ts'

/** A document of a report. */
export type AuditedDocument = {
  documentHash: Hex
  /** The batch of the document; `null` = issued alone. */
  batchRoot: Hex | null
  status: RegistryStatus
  record: RegistryRecord
  /** The slot of the document itself, which differs from `record` in a batch. */
  own: RegistryRecord
  /** The account that issued it; `null` for a hash that was never issued. */
  account: Hex | null
  /** The transaction that anchored it according to its event; `null` = unknown. */
  transactionHash: Hex | null
  category: string | null
  findings: DocumentFinding[]
}

/**
 * @returns A function that makes the lines of a report, ordered by the block that anchored them.
 */
export function createLines(
  table: DocumentTable,
  readingOf: (entry: TableEntry) => RevisedSlot,
  about: {
    blockTime: number
    accounts: ReadonlyMap<number, RegistryAccount>
    rootOf(batch: number): Hex | null
  },
): () => Generator<AuditedDocument> {
  return function* lines() {
    for (const entry of table.byBlock()) {
      const { documentHash, batch, event, category, own } = entry
      const { record, revoker } = readingOf(entry)
      const account = about.accounts.get(record.accountIndex)
      const status = registryStatusOf({
        record,
        account: account ?? NO_ACCOUNT,
        revoker,
        blockTime: about.blockTime,
      })
      const isIssued = status !== 'not_issued'
      const revision = isIssued ? distrustedRevision(own, about.accounts) : undefined
      yield {
        documentHash,
        batchRoot: batch === null ? null : about.rootOf(batch),
        status,
        record,
        own,
        account: isIssued ? (account?.account ?? null) : null,
        transactionHash: event?.transactionHash ?? null,
        category,
        findings: [
          ...(status === 'valid' || !isIssued ? [] : [status]),
          ...(revision ? [revision] : []),
          ...findingsIn(entry.marks),
        ],
      }
    }
  }
}
