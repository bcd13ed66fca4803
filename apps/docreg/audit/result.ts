import type { Hex } from '#document/hex.ts'
import type { RegistryStatus } from '#verifier/ports.ts'
import type { Recount } from '../manifest.ts'
import type { ListedBatch } from './batches.ts'
import type { Finding, IssuerFinding } from './findings.ts'
import type { AuditedDocument } from './lines.ts'
import type { AdminEvent } from './registry-events.ts'
import type { IssuerState } from './state.ts'
import type { Summary } from './summary.ts'

export type AuditedBatch = ListedBatch & {
  status: RegistryStatus
  account: Hex | null
  recount: Recount | 'not_asked'
  findings: IssuerFinding[]
}

/** Everything that a report shows about an issuer. */
export type IssuerAudit = IssuerState & {
  /** Whether the list has every document and every batch, according to storage proofs. */
  status: 'complete' | 'incomplete'
  documents: { count: number; found: number }
  batches: { count: number; listed: AuditedBatch[] }
  /** The number of documents in batches that were recounted. */
  inBatches: number
  adminEvents: readonly AdminEvent[]
  findings: Finding[]
  summary: Summary
  /**
   * @returns Every document, ordered by the block that anchored it. They are made again for each
   * call.
   */
  lines(): Generator<AuditedDocument>
}
