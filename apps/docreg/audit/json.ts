import type { Network } from '#verifier/network.ts'
import type { RegistryRecord } from '#verifier/ports.ts'
import { reasonName } from '#verifier/reasons.ts'
import { timeOf } from './csv.ts'
import type { AuditedDocument } from './lines.ts'
import type { Audit } from './run.ts'
import { unlistedIn } from './words.ts'

/** The part of a report before the issuers. */
export type ReportHead = {
  /** The CAIP-10 account ID of the registry. */
  registry: string
  network: Network
  /** When the report was made, in RFC 3339. */
  madeAt: string
}

/** @returns The pieces of a JSON file: the head, and then each issuer with its documents. */
export function* jsonOf(head: ReportHead, audits: readonly Audit[]): Generator<string> {
  yield `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "issuers": [`
  for (const [number, audit] of audits.entries()) {
    const about = JSON.stringify(aboutOf(audit))
    yield `${number > 0 ? ',' : ''}\n${about.slice(0, -1)},"documents":[`
    let isFirst = true
    for (const line of audit.lines()) {
      yield `${isFirst ? '' : ','}\n${JSON.stringify(documentOf(line))}`
      isFirst = false
    }
    yield ']}'
  }
  yield ']}\n'
}

/** @returns An audit without its documents. */
export function aboutOf(audit: Audit): object {
  const { issuer, accounts, proposal, status, documents, batches, asOf } = audit
  const { blockNumber, blockHash, blockTime, isFinal } = asOf
  return {
    issuer,
    status,
    isProven: true,
    asOf: { blockNumber, blockHash, blockTime, isFinal },
    counts: {
      documents: documents.count,
      listedDocuments: documents.found,
      batches: batches.count,
      listedBatches: batches.listed.filter((one) => one.status !== 'not_issued').length,
      documentsInBatches: audit.inBatches,
      unlistedDocuments: unlistedIn(batches.listed).documents,
      newerDocuments: audit.newer.documents,
      newerBatches: audit.newer.batches,
    },
    summary: audit.summary,
    findings: audit.findings,
    accounts: [...accounts.values()],
    proposal,
    adminEvents: audit.adminEvents,
    batches: batches.listed.map(({ root, record, ...batch }) => ({
      root,
      size: record.validUntil,
      status: batch.status,
      account: batch.account,
      anchoredBlock: record.anchoredBlock,
      anchoredAt: timeOf(record.anchoredAt),
      transactionHash: batch.event?.transactionHash ?? null,
      manifest: batch.manifest,
      recount: batch.recount,
      ...revisionOf(record),
      findings: batch.findings,
    })),
  }
}

function documentOf({ record, own, findings, ...line }: AuditedDocument): object {
  return {
    ...line,
    findings,
    anchoredBlock: record.anchoredBlock,
    anchoredAt: record.anchoredBlock === 0 ? null : timeOf(record.anchoredAt),
    validUntil: record.validUntil === 0 ? null : timeOf(record.validUntil),
    ...revisionOf(record),
    // The reason that is shown can be that of the batch.
    ownReason: revisionOf(own).reason,
  }
}

function revisionOf({ revokedBlock, revokedAt, reason, setAside }: RegistryRecord) {
  const isRevoked = revokedBlock !== 0
  return {
    revokedBlock: isRevoked ? revokedBlock : null,
    revokedAt: isRevoked ? timeOf(revokedAt) : null,
    reason: isRevoked ? reasonName(reason) : null,
    setAside,
  }
}
